/** Tests that invalid responses from etcd cause store errors but never a crash or a hang. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import * as http2 from 'node:http2'
import { describe, it } from 'node:test'
import { MessageCutter, maxMessageBytes, seal } from '../../../src/storage/store/etcd/grpc.ts'
import { EtcdStore } from '../../../src/storage/store/etcd/store.ts'
import { StoreError } from '../../../src/storage/store/store.ts'

describe('gRPC messages', () => {
  const frame = (text: string) => seal(Buffer.from(`.....${text}`))

  it('gRPC messages are extracted from chunks of any size', () => {
    const sent = ['', 'a', 'bc'.repeat(1000), 'last']
    const bytes = Buffer.concat(sent.map(frame))
    for (const size of [1, 2, 3, 7, 100, bytes.length]) {
      const cutter = new MessageCutter()
      const received: string[] = []
      for (let at = 0; at < bytes.length; at += size) {
        for (const message of cutter.push(bytes.subarray(at, at + size))) received.push(message.toString())
      }
      assert.deepEqual(received, sent)
    }
  })

  it('compressed or too large gRPC messages are rejected', () => {
    assert.throws(() => new MessageCutter().push(Buffer.from('0100000000', 'hex')), /compressed/)
    const large = Buffer.alloc(5)
    large.writeUInt32BE(maxMessageBytes + 1, 1)
    assert.throws(() => new MessageCutter().push(large), /exceeds the limit/)
  })
})

describe('etcd store connected to a server that is not etcd', { timeout: 300_000 }, () => {
  const answers: Record<string, (stream: http2.ServerHttp2Stream) => void> = {
    'a web page': (stream) => {
      stream.respond({ ':status': 404, 'content-type': 'text/html' })
      stream.end('<html>')
    },
    'a closed stream': (stream) => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR),
    'no status': (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      stream.end(seal(Buffer.from('.....')))
    },
    'an invalid message': (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.end(seal(Buffer.from('.....\xff\xff\xff', 'latin1')))
    },
    'an error with an invalid message': (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '13', 'grpc-message': '%zz' })
      stream.end()
    },
  }

  for (const [name, answer] of Object.entries(answers)) {
    it(`the store rejects ${name}`, async () => {
      const server = http2.createServer()
      server.on('stream', (stream: http2.ServerHttp2Stream) => {
        stream.on('error', () => {})
        answer(stream)
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      try {
        const endpoint = `http://127.0.0.1:${(server.address() as { port: number }).port}`
        await assert.rejects(EtcdStore.open({ endpoints: [endpoint], historyMs: 1_000, deadlineMs: 300 }), StoreError)
      } finally {
        await new Promise((resolve) => server.close(resolve))
      }
    })
  }
})
