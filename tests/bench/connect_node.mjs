// A server of connect-node beside erratad, for protocols.py: GetExamples by gRPC, gRPC-Web and Connect, over HTTP/1.1 and
// HTTP/2 in cleartext, each on a port of its own. It returns one stored reply without looking at the request: the least
// that a server on connect-node does for a call.
//
// node connect_node.mjs DESCRIPTOR_SET REPLY. Prints the two ports, and ends with its standard input.
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import { createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { connectNodeAdapter } from '@connectrpc/connect-node';

const [descriptors, replyFile] = process.argv.slice(2);
const files = createFileRegistry(fromBinary(FileDescriptorSetSchema, fs.readFileSync(descriptors)));
const reply = fromBinary(files.getMessage('errata.v1.GetExamplesResponse'), fs.readFileSync(replyFile));
const handler = connectNodeAdapter({
  routes: (router) => router.service(files.getService('errata.v1.PromptService'), { getExamples: () => reply }),
});

async function listen(server) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.address().port;
}

console.log(await listen(http.createServer(handler)), await listen(http2.createServer(handler)));
process.stdin.on('end', () => process.exit(0));
process.stdin.resume();
