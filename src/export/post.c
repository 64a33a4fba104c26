#include "export/post.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>

#include "base/error.h"

/* What the service answers is of no interest, as long as it takes what it got. */
static size_t pass_over(char *bytes, size_t size, size_t nr, void *to)
{
	(void)bytes;
	(void)to;
	return size * nr;
}

static int perform(CURL *curl, const char *url, struct error *err)
{
	char why[CURL_ERROR_SIZE] = "";
	long status = 0;
	CURLcode got;

	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
	got = curl_easy_perform(curl);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
	if (got != CURLE_OK)
		return error_set(err, EIO, "cannot send to '%s': %s", url,
				 why[0] ? why : curl_easy_strerror(got));
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200 || status > 299)
		return error_set(err, EIO, "'%s' does not take it: status %ld", url, status);
	return 0;
}

int post_bytes(const char *url, const char *type, struct str bytes, struct error *err)
{
	struct curl_slist *headers;
	CURL *curl = curl_easy_init();
	char header[128];
	int got;

	if (!curl)
		return error_set(err, EIO, "the HTTP library cannot be used");
	snprintf(header, sizeof(header), "Content-Type: %s", type);
	headers = curl_slist_append(NULL, header);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, bytes.p);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes.n);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, pass_over);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)POST_WAIT_S);
	/* signals are the program's own, and no answer leads elsewhere */
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	got = perform(curl, url, err);
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	return got;
}
