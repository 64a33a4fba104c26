package handoffs.common.cache;

/** Named as the caches of Guava (share/carriers/guava.carry). */
public final class LocalCache {
    public static final class Entry {
    }
}
