/**
 * Tests the form of port forwarding that kubectl has used since version 1.31: SPDY in the binary messages of a
 * WebSocket. This file contains the client.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:https'
import { Duplex } from 'node:stream'
import { after, test } from 'node:test'
import { reachedNode } from '../../support/reached-node.ts'
import { SpdyClient } from '../../support/spdy-client.ts'
import { soon } from '../../support/until.ts'

const { api, addPod } = await reachedNode({ after }, [], '1.34')
await addPod('web')
const path = '/api/v1/namespaces/default/pods/web/portforward'
const tunneled = 'SPDY/3.1+portforward.k8s.io'

/** A connection whose bytes are sent in masked binary messages. Supports only unfragmented frames. */
class ClientTunnel extends Duplex {
  closeCode: number | undefined
  readonly #socket: Duplex
  #waiting = Buffer.alloc(0)

  constructor(socket: Duplex) {
    super()
    this.#socket = socket
    socket.on('error', () => {})
    socket.on('close', () => this.destroy())
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.frame(2, chunk)
    done()
  }

  override _final(done: () => void): void {
    this.frame(8, Buffer.from([3, 232]))
    done()
  }

  frame(opcode: number, data: Buffer): void {
    const length = data.length < 126 ? [0x80 | data.length] : [0xfe, data.length >> 8, data.length & 0xff]
    // With a mask of zeros, the data remains unchanged.
    this.#socket.write(Buffer.concat([Buffer.from([0x80 | opcode, ...length, 0, 0, 0, 0]), data]))
  }

  #take(chunk: Buffer): void {
    this.#waiting = Buffer.concat([this.#waiting, chunk])
    while (this.#waiting.length >= 2) {
      const short = this.#waiting[1]!
      const head = short < 126 ? 2 : 4
      if (this.#waiting.length < head) return
      const length = short < 126 ? short : this.#waiting.readUInt16BE(2)
      if (this.#waiting.length < head + length) return
      const data = this.#waiting.subarray(head, head + length)
      if (this.#waiting[0] === 0x82) this.push(data)
      else if (this.#waiting[0] === 0x88) this.closeCode = data.readUInt16BE(0)
      this.#waiting = this.#waiting.subarray(head + length)
    }
  }
}

async function open(protocols: string, at = path, token = 'admin-token') {
  const headers = {
    authorization: `Bearer ${token}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    'sec-websocket-protocol': protocols,
  }
  const asked = request({ host: '127.0.0.1', port: api.port, path: at, headers, ca: api.ca, agent: false })
  asked.end()
  const answered = await Promise.race([once(asked, 'upgrade'), once(asked, 'response')])
  const [response, socket] = answered as [import('node:http').IncomingMessage, Duplex | undefined]
  return { status: response.statusCode, headers: response.headers, socket, response }
}

test('a port-forward tunnel forwards several connections and reports errors', async () => {
  const { status, headers, socket } = await open(`${tunneled}`)
  assert.deepEqual([status, headers['sec-websocket-protocol']], [101, tunneled])
  const tunnel = new ClientTunnel(socket!)
  const spdy = new SpdyClient(tunnel)
  const connect = (port: string, requestid: string) => {
    const error = spdy.open({ streamtype: 'error', port, requestid })
    spdy.end(error)
    return { error, data: spdy.open({ streamtype: 'data', port, requestid }) }
  }
  const [echo, refused] = [connect('7', '0'), connect('9', '1')]
  spdy.send(echo.data, 'x'.repeat(30_000))
  await soon(() => spdy.streams.get(echo.data)!.text.length === 30_000)
  assert.match(await spdy.ended(refused.error), /connection refused by port 9/)
  spdy.end(echo.data)
  await spdy.ended(echo.data)
  const again = connect('7', '2')
  spdy.send(again.data, 'still open')
  await soon(() => spdy.streams.get(again.data)!.text === 'still open')
  tunnel.end()
  await soon(() => spdy.isClosed)
  assert.equal(tunnel.closeCode, 1000)
})

test('the server prefers the tunnel protocol among the offered protocols, and closes the connection after a protocol violation', async () => {
  const { headers, socket } = await open(`v4.channel.k8s.io, ${tunneled}`)
  assert.equal(headers['sec-websocket-protocol'], tunneled)
  const tunnel = new ClientTunnel(socket!)
  tunnel.frame(3, Buffer.from('unknown opcode'))
  await once(tunnel, 'close')
  assert.equal(tunnel.closeCode, 1002)
})

test('a port-forward tunnel to a missing or forbidden pod is rejected with an ordinary HTTP response', async () => {
  assert.equal((await open(tunneled, '/api/v1/namespaces/default/pods/none/portforward')).status, 404)
  assert.equal((await open(tunneled, path, 'alice-token')).status, 403)
})

test('if the feature gate is disabled, the server does not unpack tunnels', async (t) => {
  const older = await reachedNode(t, ['--feature-gates=PortForwardWebsockets=false'], '1.34')
  await older.addPod('web')
  const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': tunneled }
  const { status } = await older.api.client.get(path, headers)
  assert.equal(status, 400)
})
