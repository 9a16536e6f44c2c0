"""Registers a webhook of its own with the agent at the URL that is the argument, for a story that is streamed, one with a
question and one that is canceled, and prints what the webhook heard of each."""

import asyncio
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from google.protobuf.json_format import Parse

from a2a.client import ClientConfig, create_client
from a2a.helpers import get_text_parts, new_text_message
from a2a.types import (
    CancelTaskRequest,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    TaskPushNotificationConfig,
    TaskState,
)

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
                hook.hear(Parse(body, StreamResponse()))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def hear(self, item):
        with self.news:
            if item.HasField("status_update"):
                self.states.append(TaskState.Name(item.status_update.status.state))
            else:
                self.text += "".join(get_text_parts(item.artifact_update.artifact.parts))
            self.news.notify_all()

    def until(self, *states):
        """Waits until these states were heard, the last of them last."""
        with self.news:
            self.news.wait_for(lambda: self.states[-len(states):] == [f"TASK_STATE_{s}" for s in states], timeout=10)

    def message(self, text, **more):
        config = TaskPushNotificationConfig(url=f"http://127.0.0.1:{self.server.server_port}/", token=TOKEN)
        return SendMessageRequest(
            message=new_text_message(text, role=Role.ROLE_USER),
            configuration=SendMessageConfiguration(task_push_notification_config=config, **more),
        )

    def story(self):
        return {"states": [s.removeprefix("TASK_STATE_").lower() for s in self.states], "text": self.text}


async def send(agent, request):
    """Sends a message and returns its task's id and context."""
    ids = None
    async for item in agent.send_message(request):
        if item.HasField("task"):
            ids = item.task.id, item.task.context_id
    return ids


async def main(url):
    tell, book, wait = Webhook(), Webhook(), Webhook()
    async with await create_client(url, ClientConfig(streaming=True)) as agent:
        await send(agent, tell.message("tell"))
        tell.until("COMPLETED")
    async with await create_client(url, ClientConfig(streaming=False)) as agent:
        task, context = await send(agent, book.message("book"))
        book.until("INPUT_REQUIRED")
        answer = new_text_message("Friday", role=Role.ROLE_USER)
        answer.task_id, answer.context_id = task, context
        await send(agent, SendMessageRequest(message=answer))
        book.until("COMPLETED")

        task, _ = await send(agent, wait.message("wait", return_immediately=True))
        wait.until("WORKING")
        await agent.cancel_task(CancelTaskRequest(id=task))
        wait.until("CANCELED")
    print(json.dumps({"tell": tell.story(), "book": book.story(), "wait": wait.story()}))


asyncio.run(main(sys.argv[1]))
