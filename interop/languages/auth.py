"""Is a client with the SDK's hook for credentials. Reads whom to call, and with what, as lines of JSON, and prints an answer for
each."""

import asyncio
import json
import ssl
import sys
import uuid

import grpc.aio
import httpx

from a2a.client import A2ACardResolver, ClientCallContext, ClientConfig, ClientFactory
from a2a.client.auth import AuthInterceptor, InMemoryContextCredentialStore
from a2a.types import Message, Part, SendMessageRequest


def read(path):
    with open(path, "rb") as f:
        return f.read()


def connections(ask):
    """How agents are reached over HTTP and gRPC."""
    if not ask["ca"]:
        return True, grpc.aio.insecure_channel
    tls = ssl.create_default_context(cafile=ask["ca"])
    files = [ask["key"], ask["cert"]] if ask["cert"] else []
    if files:
        tls.load_cert_chain(ask["cert"], ask["key"])
    shown = grpc.ssl_channel_credentials(read(ask["ca"]), *map(read, files))
    return tls, lambda at: grpc.aio.secure_channel(at, shown)


async def call(ask):
    tls, channel = connections(ask)
    store = InMemoryContextCredentialStore()
    for scheme, secret in (ask["secrets"] or {}).items():
        await store.set_credentials("mine", scheme, secret)
    async with httpx.AsyncClient(timeout=30, verify=tls) as http:
        card = await A2ACardResolver(http, ask["url"]).get_agent_card()
        only = [
            i for i in card.supported_interfaces if i.protocol_binding == ask["binding"] and i.protocol_version.startswith(ask["version"])
        ]
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(only)
        config = ClientConfig(
            streaming=ask["stream"], httpx_client=http, supported_protocol_bindings=[ask["binding"]], grpc_channel_factory=channel
        )
        text = "tell" if ask["stream"] else "hello"
        message = Message(message_id=str(uuid.uuid4()), role="ROLE_USER", parts=[Part(text=text)])
        async with ClientFactory(config).create(card, [AuthInterceptor(store)]) as client:
            context = ClientCallContext(state={"sessionId": "mine"})
            items = [i async for i in client.send_message(SendMessageRequest(message=message), context=context)]
    if not ask["stream"]:
        return {"message": [{"text": p.text} for p in items[0].message.parts]}
    chunks = [i.artifact_update.artifact.parts for i in items if i.HasField("artifact_update")]
    return {"events": [{"kind": "artifact", "text": "".join(p.text for p in parts)} for parts in chunks]}


async def main():
    while line := await asyncio.to_thread(sys.stdin.readline):
        try:
            answer = await call(json.loads(line))
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)


asyncio.run(main())
