"""A gNMI server on loopback, from the public protocol as pygnmi ships it: for tests of slurm/switch-readers/gnmi.

    python3 gnmi_server.py < LEAVES.json     {path: value}; prints its port, and ends with its standard input

Get answers with JSON (a container's leaves as one document), Subscribe once with a leaf for each update. What a path
with * asks for and nothing has is NOT_FOUND, as switches answer.
"""

import json
import re
import sys
from concurrent import futures

import grpc
from pygnmi.create_gnmi_path import gnmi_path_generator
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc


def text_of(path):
    return "/".join(element.name + "".join(f"[{key}={value}]" for key, value in sorted(element.key.items()))
                    for element in path.elem)


class Server(gnmi_pb2_grpc.gNMIServicer):
    def __init__(self, leaves):
        self._leaves = leaves

    def _below(self, wanted, context):
        pattern = re.escape(text_of(wanted)).replace(r"\*", r"[^\]]*")
        found = {path: value for path, value in self._leaves.items() if re.match(rf"{pattern}(?:/|$)", path)}
        if not found:
            context.abort(grpc.StatusCode.NOT_FOUND, f"nothing at {text_of(wanted)}")
        return found

    def Capabilities(self, _, context):  # noqa: N802 (names of the protocol)
        return gnmi_pb2.CapabilityResponse(gNMI_version="0.8.0", supported_encodings=[gnmi_pb2.JSON_IETF])

    def Get(self, request, context):  # noqa: N802
        notifications = []
        for wanted in request.path:
            containers = {}
            for path, value in self._below(wanted, context).items():
                container, _, leaf = path.rpartition("/")
                # RFC 7951: numbers of 64 bits are strings, and the first name has its module.
                containers.setdefault(container, {})[f"openconfig-x:{leaf}"] = str(value)
            notifications.append(gnmi_pb2.Notification(timestamp=1, update=[
                gnmi_pb2.Update(path=gnmi_path_generator(path),
                                val=gnmi_pb2.TypedValue(json_ietf_val=json.dumps(values).encode()))
                for path, values in containers.items()]))
        return gnmi_pb2.GetResponse(notification=notifications)

    def Subscribe(self, requests, context):  # noqa: N802
        for wanted in next(requests).subscribe.subscription:
            for path, value in self._below(wanted.path, context).items():
                typed = {"uint_val": value} if isinstance(value, int) else {"string_val": value}
                yield gnmi_pb2.SubscribeResponse(update=gnmi_pb2.Notification(timestamp=1, update=[
                    gnmi_pb2.Update(path=gnmi_path_generator(path), val=gnmi_pb2.TypedValue(**typed))]))
        yield gnmi_pb2.SubscribeResponse(sync_response=True)


def main():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    gnmi_pb2_grpc.add_gNMIServicer_to_server(Server(json.loads(sys.stdin.readline())), server)
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    sys.stdin.read()
    server.stop(0)


if __name__ == "__main__":
    main()
