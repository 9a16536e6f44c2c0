"""Is the agent that package desk describes, over all bindings of 1.0 and 0.3. Prints its URL, and ends when its input does."""

import asyncio
import socket
import sys
import threading
import os

import grpc.aio
import httpx
import uvicorn

from starlette.applications import Starlette

from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import BasePushNotificationSender, InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, a2a_pb2_grpc

LINES = [f"line {i}\n" for i in range(5)]


class Desk(AgentExecutor):
    """Does what the first word of a message says."""

    def __init__(self):
        self.canceled = {}

    async def execute(self, context, queue):
        word = context.message.parts[0].text
        if word == "hello":
            await queue.enqueue_event(new_text_message("Good morning.", context_id=context.context_id))
            return
        task = context.current_task
        if not task:
            task = new_task_from_user_message(context.message)
            await queue.enqueue_event(task)
        desk = TaskUpdater(queue, task.id, task.context_id)
        if context.current_task:
            await desk.add_artifact([new_text_part(f"Booked for {word}.")])
            await desk.complete()
            return
        await desk.start_work(desk.new_agent_message([new_text_part("Looking at the map.")]))
        if word == "book":
            await desk.requires_input(desk.new_agent_message([new_text_part("For which day?")]))
            return
        if word == "wait":
            await self.canceled.setdefault(task.id, asyncio.Event()).wait()
            return
        if word == "forecast":
            await desk.add_artifact([new_text_part('Dry until ten, then "showers" – 11 °C.')])
        if word == "echo":
            await desk.add_artifact(list(context.message.parts))
        if word == "tell":
            for i, line in enumerate(LINES):
                await desk.add_artifact([new_text_part(line)], artifact_id="story", append=i > 0)
        await desk.complete()

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()
        self.canceled.setdefault(context.task_id, asyncio.Event()).set()


def skill(name):
    return AgentSkill(id=name, name=name, description="Answers.", tags=["travel"])


def card_of(base, address):
    def interfaces(version, *, rpc, rest):
        return [
            AgentInterface(url=base + rpc, protocol_binding="JSONRPC", protocol_version=version),
            AgentInterface(url=base + rest, protocol_binding="HTTP+JSON", protocol_version=version),
            AgentInterface(url=address, protocol_binding="GRPC", protocol_version=version),
        ]

    return AgentCard(
        name="Interop Desk",
        description="Answers travellers.",
        version="1.0.0",
        supported_interfaces=interfaces("1.0", rpc="/rpc", rest="/rest") + interfaces("0.3", rpc="/rpc", rest="/rest"),
        capabilities=AgentCapabilities(streaming=True, push_notifications=True, extended_agent_card=True),
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
    extended = AgentCard()
    extended.CopyFrom(card)
    extended.skills.append(skill("vip"))
    hooks = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Desk(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        push_config_store=hooks,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), hooks),
        extended_agent_card=extended,
    )
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), rpc)
    a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server(CompatGrpcHandler(handler), rpc)
    await rpc.start()
    app = Starlette(
        routes=create_agent_card_routes(card)
        + create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True)
        + create_rest_routes(handler, enable_v0_3_compat=True, path_prefix="/rest")
    )
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    print(base, flush=True)
    await server.serve([listener])


threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
asyncio.run(main())
