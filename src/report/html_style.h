/* The look of an HTML report, and its hash: the only style that the page allows itself. */
#ifndef CULPRIT_REPORT_HTML_STYLE_H
#define CULPRIT_REPORT_HTML_STYLE_H

extern const char html_style[];
/* base64 of the SHA-256 of html_style, as a Content-Security-Policy names it; a test holds both
 * together. */
extern const char html_style_sha256[];

#endif
