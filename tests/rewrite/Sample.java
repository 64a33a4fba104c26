/** Runs woven: what is handed over at each place is known (tests/rewrite/sample.told). */
public final class Sample {
    private final String name;

    Sample(String name) {
        this.name = name;
    }

    static double mix(boolean z, byte b, char c, float f, double d, long j) {
        return d + f;
    }

    static float half(double d, long j) {
        return 0.5f;
    }

    String join(String a, int n, Object[] more) {
        if (n > 1)
            return a + n;
        return name;
    }

    static void fail(long j, String why) {
        for (int i = 0; i < 2; i++) {
            if (i == j)
                throw new IllegalStateException(why);
        }
    }

    static long count(int n) {
        long sum = 0;
        while (n > 0)
            sum += n--;
        return sum;
    }

    int length() {
        return name.length();
    }

    public static void main(String[] args) {
        Sample s = new Sample("it");
        mix(true, (byte) -2, 'x', 1.5f, 0.25, 1L << 40);
        half(0.25, 1L << 40);
        s.join("a", 3, null);
        s.join("b", 1, args);
        try {
            fail(1, "no");
        } catch (IllegalStateException e) {
            count(4);
        }
        s.length();
    }
}
