// Registers a webhook of its own with the agent at the URL that is the argument, for a story that is streamed, one with a
// question and one that is canceled, and prints what the webhook heard of each.
import { once, EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Role, StreamResponse, taskStateToJSON } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';

const TOKEN = 's3cret';

// Webhook hears what becomes of one task.
class Webhook {
  states = [];
  text = '';
  news = new EventEmitter();

  async open() {
    this.server = createServer(async (req, res) => {
      if (req.headers['x-a2a-notification-token'] !== TOKEN) return res.writeHead(401).end();
      this.hear(StreamResponse.fromJSON(JSON.parse(await text(req))).payload);
      res.end();
    });
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  hear({ $case, value }) {
    if ($case === 'statusUpdate') this.states.push(taskStateToJSON(value.status.state).replace('TASK_STATE_', '').toLowerCase());
    else this.text += value.artifact.parts.map((part) => part.content.value).join('');
    this.news.emit('news');
  }

  // until waits until a state is the last one that was heard.
  async until(state) {
    const signal = AbortSignal.timeout(10_000);
    while (this.states.at(-1) !== state && !signal.aborted) await once(this.news, 'news', { signal }).catch(() => {});
  }

  message(words, more) {
    const url = `http://127.0.0.1:${this.server.address().port}/`;
    return { message: message(words), configuration: { taskPushNotificationConfig: { url, token: TOKEN }, ...more } };
  }

  story() {
    this.server.close();
    return { states: this.states, text: this.text };
  }
}

const message = (words, more) => ({
  messageId: crypto.randomUUID(),
  role: Role.ROLE_USER,
  parts: [{ content: { $case: 'text', value: words } }],
  ...more,
});

const agent = await new ClientFactory().createFromUrl(process.argv[2]);

const tell = await new Webhook().open();
for await (const _ of agent.sendMessageStream(tell.message('tell')));
await tell.until('completed');

const book = await new Webhook().open();
const asked = await agent.sendMessage(book.message('book'));
await book.until('input_required');
await agent.sendMessage({ message: message('Friday', { taskId: asked.id, contextId: asked.contextId }) });
await book.until('completed');

const wait = await new Webhook().open();
const waiting = await agent.sendMessage(wait.message('wait', { returnImmediately: true }));
await wait.until('working');
await agent.cancelTask({ id: waiting.id });
await wait.until('canceled');

console.log(JSON.stringify({ tell: tell.story(), book: book.story(), wait: wait.story() }));
