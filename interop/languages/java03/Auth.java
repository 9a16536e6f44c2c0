import com.fasterxml.jackson.databind.JsonNode;
import io.a2a.client.Client;
import io.a2a.client.ClientEvent;
import io.a2a.client.MessageEvent;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.http.A2ACardResolver;
import io.a2a.client.transport.grpc.GrpcTransport;
import io.a2a.client.transport.grpc.GrpcTransportConfigBuilder;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfigBuilder;
import io.a2a.client.transport.rest.RestTransport;
import io.a2a.client.transport.rest.RestTransportConfigBuilder;
import io.a2a.client.transport.spi.interceptors.ClientCallContext;
import io.a2a.client.transport.spi.interceptors.auth.AuthInterceptor;
import io.a2a.client.transport.spi.interceptors.auth.InMemoryContextCredentialService;
import io.a2a.spec.*;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.TlsChannelCredentials;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.*;
import java.util.concurrent.*;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Is a client with the SDK's hook for credentials, as auth03.py. */
public class Auth {
  static Certificate certificate(String file) throws Exception {
    try (var in = new FileInputStream(file)) {
      return CertificateFactory.getInstance("X.509").generateCertificate(in);
    }
  }

  /** Has the clients of HTTP that begin now trust an agent, and show it a certificate. */
  static void useTLS(String ca, String cert, String key) throws Exception {
    var trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    trusted.setCertificateEntry("ca", certificate(ca));
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    var shown = KeyStore.getInstance(KeyStore.getDefaultType());
    shown.load(null, null);
    if (!cert.isEmpty()) {
      var pem = Files.readString(Path.of(key)).replaceAll("-----[A-Z ]*-----|\\s", "");
      var secret = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
      shown.setKeyEntry("client", secret, new char[0], new Certificate[] {certificate(cert)});
    }
    var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(shown, new char[0]);
    var context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
    SSLContext.setDefault(context);
  }

  static ChannelCredentials channel(String ca, String cert, String key) throws Exception {
    if (ca.isEmpty()) return InsecureChannelCredentials.create();
    var tls = TlsChannelCredentials.newBuilder().trustManager(new File(ca));
    if (!cert.isEmpty()) tls.keyManager(new File(cert), new File(key));
    return tls.build();
  }

  static Map<String, Object> call(JsonNode ask) throws Exception {
    String ca = ask.get("ca").asText(), cert = ask.get("cert").asText(), key = ask.get("key").asText();
    if (!ca.isEmpty()) useTLS(ca, cert, key);
    var dial = channel(ca, cert, key);
    var store = new InMemoryContextCredentialService();
    ask.get("secrets").fields().forEachRemaining(s -> store.setCredential("mine", s.getKey(), s.getValue().asText()));
    var hook = new AuthInterceptor(store);
    var stream = ask.get("stream").asBoolean();
    var card = new A2ACardResolver(ask.get("url").asText()).getAgentCard();
    var builder = Client.builder(card).clientConfig(new ClientConfig.Builder().setStreaming(stream).build());
    switch (ask.get("binding").asText()) {
      case "GRPC" -> builder.withTransport(GrpcTransport.class, new GrpcTransportConfigBuilder()
          .channelFactory(at -> Grpc.newChannelBuilder(at, dial).build()).addInterceptor(hook));
      case "HTTP+JSON" -> builder.withTransport(RestTransport.class, new RestTransportConfigBuilder().addInterceptor(hook));
      default -> builder.withTransport(JSONRPCTransport.class, new JSONRPCTransportConfigBuilder().addInterceptor(hook));
    }
    var client = builder.build();
    var context = new ClientCallContext(Map.of("sessionId", "mine"), new HashMap<>());
    var message = new Message.Builder().role(Message.Role.USER).messageId(UUID.randomUUID().toString())
        .parts(List.of(new TextPart(stream ? "tell" : "hello"))).build();
    if (stream) return Call.events((consumers, failed) -> client.sendMessage(message, consumers, failed, context));
    var answer = new CompletableFuture<ClientEvent>();
    client.sendMessage(message, List.of((event, c) -> answer.complete(event)), null, context);
    return Map.of("message", Call.told(((MessageEvent) answer.get(8, TimeUnit.SECONDS)).getMessage().getParts()));
  }

  public static void main(String[] args) throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null;) {
      Map<String, Object> answer;
      try {
        answer = call(Call.JSON.readTree(line));
      } catch (Throwable e) {
        answer = Map.of("error", Call.told(e));
      }
      System.out.write((Call.JSON.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8));
      System.out.flush();
    }
    System.exit(0);
  }
}
