import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.a2a.client.Client;
import io.a2a.client.ClientEvent;
import io.a2a.client.MessageEvent;
import io.a2a.client.TaskEvent;
import io.a2a.client.TaskUpdateEvent;
import io.a2a.client.config.ClientConfig;
import io.a2a.client.http.A2ACardResolver;
import io.a2a.client.transport.grpc.GrpcTransport;
import io.a2a.client.transport.grpc.GrpcTransportConfigBuilder;
import io.a2a.client.transport.jsonrpc.JSONRPCTransport;
import io.a2a.client.transport.jsonrpc.JSONRPCTransportConfigBuilder;
import io.a2a.client.transport.rest.RestTransport;
import io.a2a.client.transport.rest.RestTransportConfigBuilder;
import io.a2a.spec.*;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Is a client, as call03.py, with the SDK for Java. */
public class Call {
  static final long MOMENT = 300; // ms, until a task that is subscribed to is canceled
  static final ObjectMapper JSON = new ObjectMapper();

  final AgentCard card;
  final Client calls, polls, streams;

  Call(String url, String binding) throws Exception {
    card = new A2ACardResolver(url).getAgentCard();
    calls = client(binding, false, false);
    polls = client(binding, false, true);
    streams = client(binding, true, false);
  }

  Client client(String binding, boolean streaming, boolean polling) throws A2AClientException {
    var config = new ClientConfig.Builder().setStreaming(streaming).setPolling(polling).build();
    var builder = Client.builder(card).clientConfig(config);
    switch (binding) {
      case "GRPC" -> builder.withTransport(GrpcTransport.class, new GrpcTransportConfigBuilder()
          .channelFactory(at -> Grpc.newChannelBuilder(at, InsecureChannelCredentials.create()).build()));
      case "HTTP+JSON" -> builder.withTransport(RestTransport.class, new RestTransportConfigBuilder());
      default -> builder.withTransport(JSONRPCTransport.class, new JSONRPCTransportConfigBuilder());
    }
    return builder.build();
  }

  static Part<?> own(JsonNode part) {
    String name = part.path("name").asText(null), type = part.path("type").asText(null);
    if (part.has("data")) return new DataPart(JSON.convertValue(part.get("data"), Map.class));
    if (part.has("raw")) return new FilePart(new FileWithBytes(type, name, part.get("raw").asText()));
    if (part.has("url")) return new FilePart(new FileWithUri(type, name, part.get("url").asText()));
    return new TextPart(part.get("text").asText());
  }

  static Map<String, Object> told(Part<?> part) {
    var told = new HashMap<String, Object>();
    if (part instanceof TextPart text) told.put("text", text.getText());
    if (part instanceof DataPart data) told.put("data", data.getData());
    if (part instanceof FilePart file) {
      told.put("name", file.getFile().name());
      told.put("type", file.getFile().mimeType());
      if (file.getFile() instanceof FileWithBytes bytes) told.put("raw", bytes.bytes());
      if (file.getFile() instanceof FileWithUri uri) told.put("url", uri.uri());
    }
    return told;
  }

  static List<Map<String, Object>> told(List<Part<?>> parts) {
    return parts.stream().map(Call::told).toList();
  }

  static String text(List<Part<?>> parts) {
    var text = new StringBuilder();
    for (var part : parts) if (part instanceof TextPart t) text.append(t.getText());
    return text.toString();
  }

  static Map<String, Object> told(Task task) {
    var parts = new ArrayList<Map<String, Object>>();
    if (task.getArtifacts() != null) for (var artifact : task.getArtifacts()) parts.addAll(told(artifact.parts()));
    var question = task.getStatus().message();
    return Map.of("id", task.getId(), "context", task.getContextId(), "state", task.getStatus().state().asString(),
        "asks", question == null ? "" : text(question.getParts()), "parts", parts);
  }

  static Map<String, Object> told(ClientEvent event) {
    if (event instanceof MessageEvent m) return Map.of("kind", "message", "text", text(m.getMessage().getParts()));
    if (event instanceof TaskEvent t) return Map.of("kind", "task", "state", t.getTask().getStatus().state().asString());
    var update = ((TaskUpdateEvent) event).getUpdateEvent();
    if (update instanceof TaskArtifactUpdateEvent a) return Map.of("kind", "artifact", "text", text(a.getArtifact().parts()));
    return Map.of("kind", "status", "state", ((TaskStatusUpdateEvent) update).getStatus().state().asString());
  }

  static Map<String, Object> told(TaskPushNotificationConfig hook) {
    var config = hook.pushNotificationConfig();
    return Map.of("hooks", List.of(Map.of("id", config.id(), "url", config.url(), "token", config.token())));
  }

  static Map<String, Object> skills(AgentCard card) {
    return Map.of("skills", card.skills().stream().map(AgentSkill::id).toList());
  }

  static Message message(JsonNode ask) {
    var parts = new ArrayList<Part<?>>();
    ask.get("parts").forEach(part -> parts.add(own(part)));
    return new Message.Builder().role(Message.Role.USER).messageId(UUID.randomUUID().toString()).parts(parts)
        .taskId(ask.path("task").asText(null)).contextId(ask.path("context").asText(null)).build();
  }

  interface Streaming {
    void begin(List<BiConsumer<ClientEvent, AgentCard>> consumers, Consumer<Throwable> failed) throws Exception;
  }

  /** Collects the events of a stream until the last one. */
  static Map<String, Object> events(Streaming stream) throws Exception {
    var events = Collections.synchronizedList(new ArrayList<Map<String, Object>>());
    var end = new CompletableFuture<Void>();
    BiConsumer<ClientEvent, AgentCard> each = (event, card) -> {
      events.add(told(event));
      boolean last = event instanceof MessageEvent
          || event instanceof TaskUpdateEvent u && u.getUpdateEvent() instanceof TaskStatusUpdateEvent s && s.isFinal();
      if (last) end.complete(null);
    };
    stream.begin(List.of(each), failure -> {
      if (failure != null) end.completeExceptionally(failure);
      else end.complete(null);
    });
    end.get(8, TimeUnit.SECONDS);
    return Map.of("events", List.copyOf(events));
  }

  Map<String, Object> act(JsonNode ask) throws Exception {
    String task = ask.path("task").asText(null), hook = ask.path("hook").path("id").asText(null);
    switch (ask.get("op").asText()) {
      case "card": return skills(card);
      case "extended card": return skills(calls.getAgentCard());
      case "send":
        var answer = new CompletableFuture<ClientEvent>();
        (ask.path("now").asBoolean() ? polls : calls).sendMessage(message(ask), List.of((event, card) -> answer.complete(event)), null);
        var event = answer.get(8, TimeUnit.SECONDS);
        if (event instanceof MessageEvent m) return Map.of("message", told(m.getMessage().getParts()));
        return Map.of("task", told(((TaskEvent) event).getTask()));
      case "stream": return events((consumers, failed) -> streams.sendMessage(message(ask), consumers, failed));
      case "get": return Map.of("task", told(calls.getTask(new TaskQueryParams(task))));
      case "cancel": return Map.of("task", told(calls.cancelTask(new TaskIdParams(task))));
      case "subscribe":
        var soon = Executors.newSingleThreadScheduledExecutor();
        soon.schedule(() -> calls.cancelTask(new TaskIdParams(task)), MOMENT, TimeUnit.MILLISECONDS);
        soon.shutdown();
        return events((consumers, failed) -> streams.resubscribe(new TaskIdParams(task), consumers, failed));
      case "create hook":
        var config = new PushNotificationConfig.Builder().id(hook).url(ask.get("hook").get("url").asText())
            .token(ask.get("hook").get("token").asText()).build();
        return told(calls.setTaskPushNotificationConfiguration(new TaskPushNotificationConfig(task, config)));
      case "get hook": return told(calls.getTaskPushNotificationConfiguration(new GetTaskPushNotificationConfigParams(task, hook)));
      case "list hooks":
        var hooks = new ArrayList<Object>();
        for (var one : calls.listTaskPushNotificationConfigurations(new ListTaskPushNotificationConfigParams(task)))
          hooks.addAll((List<?>) told(one).get("hooks"));
        return Map.of("hooks", hooks);
      case "delete hook":
        calls.deleteTaskPushNotificationConfigurations(new DeleteTaskPushNotificationConfigParams(task, hook));
        return Map.of();
    }
    return Map.of("none", "its client has no such operation");
  }

  /** The name of an error's first cause, by which its client knows it, and the names and messages of all. */
  static String told(Throwable error) {
    var text = new StringJoiner(": ");
    var first = error;
    while (first.getCause() != null) first = first.getCause();
    if (first != error) text.add(first.getClass().getSimpleName());
    for (; error != null; error = error.getCause()) text.add(error.getClass().getSimpleName()).add(String.valueOf(error.getMessage()));
    return text.toString();
  }

  public static void main(String[] args) throws Exception {
    var call = new Call(args[0], args[2]);
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null;) {
      Map<String, Object> answer;
      try {
        answer = call.act(JSON.readTree(line));
      } catch (Throwable e) {
        answer = Map.of("error", told(e));
      }
      System.out.write((JSON.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8));
      System.out.flush();
    }
    System.exit(0);
  }
}
