/**
 * Tests Debian's kubectl with a server that connects to a simulated node: logs, exec, cp, attach, port-forward and
 * proxies, over SPDY.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { withoutCollector } from '../../support/kubectl.ts'
import { long } from '../../support/long.ts'
import { reachedNode } from '../../support/reached-node.ts'
import { runCommand } from '../../support/run-command.ts'

const { api, kubeconfig, addPod } = await reachedNode({ after })
const home = dirname(kubeconfig)
const env = { PATH: process.env.PATH, HOME: home, KUBECONFIG: kubeconfig, ...withoutCollector }
const pod = await addPod('web')
const container = pod.container('c')!
container.last.append(1_700_000_000_000, 'first\nsecond\nthird')

/** Runs only in the long test suite. */
const longTest = (name: string, options: { timeout: number }, run: () => Promise<void>) => {
  if (long) test(name, options, run)
}

async function kubectl(args: readonly string[], input = '') {
  const { stdout, stderr, code } = await runCommand('kubectl', args, { input, env })
  return { stdout, stderr, code }
}

test('kubectl logs prints the whole log or its last lines', { timeout: 120_000 }, async () => {
  assert.equal((await kubectl(['logs', 'web'])).stdout, 'first\nsecond\nthird\n')
  assert.equal(
    (await kubectl(['logs', 'web', '--tail=1', '--timestamps'])).stdout,
    '2023-11-14T22:13:20.000000000Z third\n',
  )
  const previous = await kubectl(['logs', 'web', '-p'])
  assert.match(previous.stderr, /previous terminated container "c" in pod "web" not found/)
})

test('kubectl exec transfers input, output and exit codes', { timeout: 120_000 }, async () => {
  const large = randomBytes(3_000_000)
  writeFileSync(join(container.directory, 'large'), large)
  const ran = await kubectl(['exec', '-i', 'web', '--', 'sh', '-c', 'cat; echo oops >&2; exit 3'], 'from afar\n')
  assert.deepEqual([ran.stdout, ran.code], ['from afar\n', 3])
  assert.match(ran.stderr, /oops\n(.*\n)*command terminated with exit code 3/)
  const sum = await kubectl(['exec', 'web', '--', 'wc', '-c', 'large'])
  assert.match(sum.stdout, /^3000000 large/)
  const none = await kubectl(['exec', 'web', '--', 'no-such-command'])
  assert.match(none.stderr, /ENOENT/)
})

longTest('kubectl cp copies files in both directions', { timeout: 120_000 }, async () => {
  const bytes = randomBytes(2_000_000)
  writeFileSync(join(home, 'sent'), bytes)
  const there = await kubectl(['cp', join(home, 'sent'), `web:${container.directory}/taken`])
  assert.deepEqual([there.stderr, there.code], ['', 0])
  const back = await kubectl(['cp', `web:${container.directory}/taken`, join(home, 'back')])
  assert.equal(back.code, 0, back.stderr)
  assert.ok(readFileSync(join(home, 'back')).equals(bytes))
})

longTest('kubectl port-forward supports concurrent connections', { timeout: 120_000 }, async () => {
  const child = spawn('kubectl', ['port-forward', 'web', ':7', ':80', ':9'], { env })
  try {
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const ports = new Map<string, number>()
    while (ports.size < 3) {
      const { value = '' } = await lines.next()
      const [, local, remote] = /127\.0\.0\.1:(\d+) -> (\d+)/.exec(value) ?? []
      if (remote !== undefined) ports.set(remote, Number(local))
    }
    const echoed = Array.from({ length: 10 }, (_, i) => echo(ports.get('7')!, randomBytes(50_000 + i)))
    await Promise.all(echoed)
    const page = await fetch(`http://127.0.0.1:${ports.get('80')}/hello`, { headers: { connection: 'close' } })
    assert.equal(((await page.json()) as { url: string }).url, '/hello')
    const refused = connect(ports.get('9')!, '127.0.0.1')
    await once(refused, 'close')
    const errors = createInterface(child.stderr)[Symbol.asyncIterator]()
    assert.match((await errors.next()).value ?? '', /connection refused by port 9/)
  } finally {
    child.kill()
    await once(child, 'close')
  }
})

async function echo(port: number, bytes: Buffer): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const parts: Buffer[] = []
  socket.on('data', (part: Buffer) => {
    parts.push(part)
    if (Buffer.concat(parts).length === bytes.length) socket.end()
  })
  socket.write(bytes)
  await once(socket, 'close')
  assert.ok(Buffer.concat(parts).equals(bytes))
}

longTest(
  'kubectl attach and kubectl logs --follow end when the server stops',
  {
    timeout: 120_000,
  },
  async () => {
    const attached = spawn('kubectl', ['attach', '-i', 'web'], { env })
    attached.stderr.resume()
    const lines = createInterface(attached.stdout)[Symbol.asyncIterator]()
    assert.equal((await lines.next()).value, 'attached')
    attached.stdin.write('hello\n')
    assert.equal((await lines.next()).value, 'said hello')
    attached.stdin.end()
    assert.deepEqual(await once(attached, 'close'), [0, null])
    const followed = spawn('kubectl', ['logs', '-f', '--tail=1', 'web'], { env })
    followed.stderr.resume()
    const log = createInterface(followed.stdout)[Symbol.asyncIterator]()
    assert.equal((await log.next()).value, 'third')
    container.last.append(Date.now(), 'fourth')
    assert.equal((await log.next()).value, 'fourth')
    const ended = once(followed, 'close')
    const began = performance.now()
    await api.server.stop()
    await ended
    assert.ok(performance.now() - began < 10_000)
  },
)
