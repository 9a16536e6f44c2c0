"""Plays an MCP host with the official SDK: mcphost.py MODE URL, or MODE COMMAND ARG... MODE is "auto", which speaks the newest version, or
"legacy". The last line of stdout is what it saw, as JSON."""
import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ElicitResult

asked = []


async def elicit(_context, params):
    asked.append(params.model_dump(by_alias=True, exclude_none=True))
    return ElicitResult(action="accept", content={"state": "Illinois"})


async def called(client, name, arguments):
    told = []

    async def progress(_done, _total, message):
        told.append(message)

    result = await client.call_tool(name, arguments, progress_callback=progress)
    return {"result": result.model_dump(mode="json", by_alias=True, exclude_none=True), "progress": told}


async def main():
    server = sys.argv[2]
    if not server.startswith("http"):
        server = StdioServerParameters(command=server, args=sys.argv[3:])
    seen = {}
    async with Client(server, mode=sys.argv[1], elicitation_callback=elicit) as client:
        seen["version"] = client.protocol_version
        tools = await client.list_tools()
        seen["tools"] = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools.tools]
        seen["forecast"] = await called(client, "get_forecast", {"city": "Rome", "days": 2})
        seen["question"] = await called(client, "get_forecast", {"city": "Springfield"})
        seen["asked"] = asked
        seen["invalid"] = await called(client, "get_forecast", {"city": ""})
        seen["failed"] = await called(client, "say", {"text": "fail"})
        seen["stream"] = await called(client, "say", {"text": "stream"})
        seen["files"] = await called(client, "say", {"text": "files"})
        try:
            await client.call_tool("say", {"text": "wait"}, read_timeout_seconds=0.5)
        except (MCPError, TimeoutError) as error:
            seen["canceled"] = str(error) or type(error).__name__
        seen["after"] = await called(client, "say", {"text": "hello"})
    print(json.dumps(seen))


asyncio.run(main())
