package rules;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/* Plain concatenation: whatever the compiler makes of it. */
class Concat {
	private static final Logger LOG = LoggerFactory.getLogger(Concat.class);
	private long total;
	private String name;

	void all(int i, long l, double d, boolean b, char c, byte y, short h, float f, String s, Object o, int[] a) {
		LOG.info("i " + i + ", l " + l + ", d " + d); //= info: i {:integer}, l {:integer}, d {:decimal}
		LOG.info(b + " b, " + c + " c"); //= info: {:boolean} b, {:char} c
		LOG.info("y " + y + " h " + h + " f " + f); //= info: y {:integer} h {:integer} f {:decimal}
		LOG.info(s + o); //= info: {}{}
		LOG.info("field " + total + " of " + name); //= info: field {Concat.total:integer} of {Concat.name:text}
		LOG.info("sum " + (i + 3) + " element " + a[i] + " length " + a.length); //= info: sum {} element {} length {}
		LOG.info("constant " + 3 + 'x' + true + 4L + null); //= info: constant 3xtrue4null
		LOG.info("a" + i + "b" + i + "c" + i + "d" + i + "e" + i + "f" + i + "g" + i + "h" + i + "i" + i + "j"); //= info: a{}b{}c{}d{}e{}f{}g{}h{}i{}j
		LOG.info("ümlaut → " + s); //= info: ümlaut → {}
		LOG.info("brace {} in text " + s); //= info: brace \{\} in text {}
		LOG.info("line\nbreak " + s); //= info: line\nbreak {}
		String later = "first " + i;
		later += " second " + s;
		LOG.info(later + "."); //= info: first {} second {}.
		LOG.info("".concat("joined ").concat(s)); //= info: joined {}
	}
}
