/**
 * Tests exec over a WebSocket with `v5.channel.k8s.io`, which kubectl has used since version 1.31, on a node that
 * supports only SPDY. The node ends its commands as a kubelet does: it sends the outcome, resets the streams and closes
 * the connection.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { after, test } from 'node:test'
import { localNode } from '../../../src/cluster/node-port/local-nodes.ts'
import { openCommand } from '../../../src/wire/streaming/command.ts'
import { agreeOnProtocol } from '../../../src/wire/streaming/handshake.ts'
import { issuePair } from '../../support/issued-pair.ts'
import { reachedNode } from '../../support/reached-node.ts'
import { soon } from '../../support/until.ts'

const { api } = await reachedNode({ after }, [], '1.34')
writeFileSync(join(api.directory, 'ca.crt'), api.ca)
const pods = '/api/v1/namespaces/default/pods'
const large = 'x'.repeat(300_000)

/**
 * Runs a command that copies stdin to stdout, writes a message to stderr and exits with code 3. Without stdin, the
 * command prints a lot of output.
 */
async function serveCommand(socket: Duplex, url: string): Promise<void> {
  const is = (name: string) => url.includes(`${name}=1`)
  const options = { stdin: is('input'), stdout: is('output'), stderr: is('error') && !is('tty'), tty: is('tty') }
  const protocol = { over: 'spdy' as const, name: 'v4.channel.k8s.io', headers: [] }
  const streams = (await openCommand({ socket, protocol, idleMs: 0, openMs: 5_000 }, options))!
  if (streams.stdin === undefined) streams.stdout!.write(large)
  else for await (const chunk of streams.stdin.iterator({ destroyOnReturn: false })) streams.stdout!.write(chunk)
  const { terminal } = streams
  if (terminal !== undefined) {
    await soon(() => terminal.size !== undefined)
    streams.stdout!.write(`${terminal.size?.width}x${terminal.size?.height}`)
  }
  streams.stderr?.write('done')
  await streams.finish({ exitCode: 3 })
}

const { certificate: cert, key } = issuePair(api.server.signingAuthority, {
  commonName: 'system:node:spdy',
  dns: ['spdy'],
})
const sockets = new Set<Duplex>()
const kubelet = createServer({ cert, key }).listen(0, '127.0.0.1')
kubelet.on('upgrade', (request, socket) => {
  sockets.add(socket)
  const agreed = agreeOnProtocol(request.headers, { spdy: ['v4.channel.k8s.io'], websocket: [] })
  if ('status' in agreed) {
    socket.end(`HTTP/1.1 ${agreed.status} No\r\ncontent-length: 0\r\n\r\n`)
    return
  }
  const lines = Array.from({ length: agreed.headers.length / 2 }, (_, i) =>
    agreed.headers.slice(2 * i, 2 * i + 2).join(': '),
  )
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
  void serveCommand(socket, request.url!)
})
await once(kubelet, 'listening')
after(() => {
  kubelet.close()
  for (const socket of sockets) socket.destroy()
})
const { port } = kubelet.address() as { port: number }
api.server.localNodes.add(localNode({ name: 'spdy' } as never, { host: '127.0.0.1', port }))
await api.client.post('/api/v1/nodes', { metadata: { name: 'spdy' } })
const spec = { nodeName: 'spdy', containers: [{ name: 'c', image: 'i' }] }
await api.client.post(pods, { metadata: { name: 'p' }, spec })

async function exec(query: string, inputs: readonly string[] = []) {
  const script = join(import.meta.dirname, '../../support/websocket-client.mjs')
  const url = `${api.server.url.replace('https', 'wss')}${pods}/p/exec?command=x&${query}`
  const env = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: join(api.directory, 'ca.crt') }
  const args = [script, url, 'v5.channel.k8s.io,v4.channel.k8s.io', 'admin-token', JSON.stringify(inputs)]
  const child = spawn(process.execPath, args, { env, timeout: 60_000 })
  const facts: { open?: string; message?: string; close?: number }[] = []
  for await (const line of createInterface(child.stdout)) facts.push(JSON.parse(line))
  const textOf = (channel: number) =>
    facts.flatMap(({ message }) => (message?.charCodeAt(0) === channel ? [message.slice(1)] : [])).join('')
  return {
    ends: [facts[0]!.open, facts.at(-1)!.close],
    stdout: textOf(1),
    stderr: textOf(2),
    exitCode: /exit status (\d+)/.exec(textOf(3))?.[1],
  }
}

const ends = ['v5.channel.k8s.io', 1000]

test('command streams are translated from WebSocket to SPDY, and the end of stdin is forwarded to the node', async () => {
  const inputs = ['\u0000all', '\u0000 of it', '\u00ff\u0000']
  assert.deepEqual(await exec('stdin=true&stdout=true&stderr=true', inputs), {
    ...{ ends, stdout: 'all of it', stderr: 'done', exitCode: '3' },
  })
})

test('all output arrives even if the node closes the connection immediately', async () => {
  assert.deepEqual(await exec('stdout=true&stderr=true'), { ends, stdout: large, stderr: 'done', exitCode: '3' })
})

test('terminal resizes are forwarded to the node', async () => {
  assert.deepEqual(await exec('stdout=true&tty=true', ['\u0004{"Width":80,"Height":24}']), {
    ...{ ends, stdout: `${large}80x24`, stderr: '', exitCode: '3' },
  })
})
