"""As agent.py, with the SDK of 0.3."""

import asyncio
import os
import socket
import sys
import threading

import grpc.aio
import httpx
import uvicorn

from starlette.applications import Starlette
from starlette.routing import Mount

from a2a.grpc import a2a_pb2_grpc
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.tasks import BasePushNotificationSender, InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, TextPart
from a2a.utils import new_agent_text_message, new_task

LINES = [f"line {i}\n" for i in range(5)]


def text_part(text):
    return Part(root=TextPart(text=text))


class Desk(AgentExecutor):
    """Does what the first word of a message says."""

    async def execute(self, context, queue):
        word = getattr(context.message.parts[0].root, "text", "")
        if word == "hello":
            await queue.enqueue_event(new_agent_text_message("Good morning."))
            return
        task = context.current_task or new_task(context.message)
        desk = TaskUpdater(queue, task.id, task.context_id)
        if context.current_task:
            await desk.add_artifact([text_part(f"Booked for {word}.")])
            await desk.complete()
            return
        await queue.enqueue_event(task)
        await desk.start_work(desk.new_agent_message([text_part("Looking at the map.")]))
        if word == "book":
            await desk.requires_input(desk.new_agent_message([text_part("For which day?")]), final=True)
            return
        if word == "wait":
            await asyncio.Event().wait()  # until it is canceled
        if word == "forecast":
            await desk.add_artifact([text_part('Dry until ten, then "showers" – 11 °C.')])
        if word == "echo":
            await desk.add_artifact(context.message.parts)
        if word == "tell":
            for i, line in enumerate(LINES):
                await desk.add_artifact([text_part(line)], artifact_id="story", append=i > 0)
        await desk.complete()

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


def skill(name):
    return AgentSkill(id=name, name=name, description="Answers.", tags=["travel"])


def card_of(base, address):
    return AgentCard(
        name="Interop Desk",
        description="Answers travellers.",
        version="1.0.0",
        url=base + "/rpc",
        preferred_transport="JSONRPC",
        additional_interfaces=[
            AgentInterface(url=base + "/rest", transport="HTTP+JSON"),
            AgentInterface(url=address, transport="GRPC"),
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        supports_authenticated_extended_card=True,
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[skill("desk")],
    )


async def main():
    listener = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    rpc = grpc.aio.server()
    port = rpc.add_insecure_port("127.0.0.1:0")
    card = card_of(base, f"127.0.0.1:{port}")
    extended = card.model_copy(update={"skills": [*card.skills, skill("vip")]})
    hooks = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Desk(),
        task_store=InMemoryTaskStore(),
        push_config_store=hooks,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), hooks),
    )
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(card, handler), rpc)
    await rpc.start()
    jsonrpc = A2AStarletteApplication(agent_card=card, http_handler=handler, extended_agent_card=extended)
    rest = A2ARESTFastAPIApplication(agent_card=card, http_handler=handler, extended_agent_card=extended)
    app = Starlette(routes=[*jsonrpc.routes(rpc_url="/rpc"), Mount("/rest", rest.build())])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    print(base, flush=True)
    await server.serve([listener])


threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
asyncio.run(main())
