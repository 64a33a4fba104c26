/** Loaded by many loaders, one after another (Odd.java). */
public final class Twin {
    public static int go(int n) {
        return n + 1;
    }
}
