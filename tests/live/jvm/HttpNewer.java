import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** How Http asks by java.net.http, which Java has since version 11. */
final class HttpNewer implements Http.Client {
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @Override
    public void ask(URI url, String way, String name) throws Exception {
        HttpRequest.Builder b = HttpRequest.newBuilder(url);
        if (way.equals("own"))
            b.header("baggage", "mine=" + name).header("baggage", "more=" + name);
        HttpRequest r = b.build();
        if (!way.equals("async"))
            client.send(r, HttpResponse.BodyHandlers.ofString());
        else
            client.sendAsync(r, HttpResponse.BodyHandlers.ofString()).thenApply(HttpResponse::body).get();
    }
}
