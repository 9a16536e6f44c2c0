"""As push.py, with the SDK of 0.3: a notification is the whole task."""

import asyncio
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory, create_text_message_object
from a2a.types import PushNotificationConfig, Task, TaskIdParams

TOKEN = "s3cret"


class Webhook:
    """Hears what becomes of one task."""

    def __init__(self):
        self.states, self.text, self.news = [], "", threading.Condition()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers["X-A2A-Notification-Token"] != TOKEN:
                    self.send_error(401)
                    return
                hook.hear(Task.model_validate_json(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def hear(self, task):
        with self.news:
            self.text = "".join(part.root.text for artifact in task.artifacts or [] for part in artifact.parts)
            state = task.status.state.value.replace("-", "_")
            if self.states[-1:] != [state]:
                self.states.append(state)
            self.news.notify_all()

    def until(self, state):
        """Waits until a state is the last one that was heard."""
        with self.news:
            self.news.wait_for(lambda: self.states[-1:] == [state], timeout=10)

    def config(self):
        return PushNotificationConfig(url=f"http://127.0.0.1:{self.server.server_port}/", token=TOKEN)

    def story(self):
        return {"states": self.states, "text": self.text}


async def send(agent, message):
    """Sends a message and returns its task as it is in the end."""
    last = None
    async for task, _ in agent.send_message(message):
        last = task
    return last


async def main(url):
    tell, book, wait = Webhook(), Webhook(), Webhook()
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, url).get_agent_card()

        def client(hook, **more):
            config = ClientConfig(httpx_client=http, push_notification_configs=[hook.config()], **more)
            return ClientFactory(config).create(card)

        await send(client(tell, streaming=True), create_text_message_object(content="tell"))
        tell.until("completed")

        agent = client(book, streaming=False)
        asked = await send(agent, create_text_message_object(content="book"))
        book.until("input_required")
        answer = create_text_message_object(content="Friday")
        answer.task_id, answer.context_id = asked.id, asked.context_id
        await send(agent, answer)
        book.until("completed")

        agent = client(wait, streaming=False, polling=True)
        waiting = await send(agent, create_text_message_object(content="wait"))
        wait.until("working")
        await agent.cancel_task(TaskIdParams(id=waiting.id))
        wait.until("canceled")
    print(json.dumps({"tell": tell.story(), "book": book.story(), "wait": wait.story()}))


asyncio.run(main(sys.argv[1]))
