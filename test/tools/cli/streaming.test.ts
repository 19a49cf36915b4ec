/** Tests container commands against a server on this machine that simulates responding nodes (`streaming-front.ts`). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { get, request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { endOfArchive, entryHeader, padding } from '../../../src/wire/streaming/tar.ts'
import { serve } from '../../support/in-process.ts'
import { orchctl, type Surroundings, startOrchctl } from '../../support/orchctl.ts'
import type { Ran } from '../../support/run-command.ts'
import { streamingFront } from '../../support/streaming-front.ts'

const server = await serve({ after }, ['--profile=kubernetes', '--disable-admission-plugins=ServiceAccount'])
const directory = mkdtempSync(join(tmpdir(), 'orch-streaming-'))
after(() => rmSync(directory, { recursive: true }))
const front = await streamingFront({ after }, server, directory)

const client = server.client()
const pod = async (name: string, containers: readonly object[], more: object = {}) => {
  const metadata = { name, labels: { app: 'web' }, ...more }
  const made = await client.post('/api/v1/namespaces/default/pods', { metadata, spec: { nodeName: 'n', containers } })
  assert.equal(made.status, 201, made.text)
  const status = { ...made.body, status: { phase: 'Running' } }
  assert.equal((await client.put(`/api/v1/namespaces/default/pods/${name}/status`, status)).status, 200)
}
await pod('web', [
  { name: 'app', image: 'x', ports: [{ name: 'http', containerPort: 8080 }] },
  { name: 'side', image: 'x' },
])
await pod('refusing', [{ name: 'app', image: 'x' }])
await client.post('/apis/apps/v1/namespaces/default/deployments', {
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'x' }] } },
  },
})

const surroundings = { env: { KUBECONFIG: front.config }, directory }
async function run(args: readonly string[], more: Surroundings = {}): Promise<Ran> {
  return await orchctl(args, { ...surroundings, ...more })
}

const defaulted = 'Defaulted container "app" out of: app, side\n'

test('orchctl exec runs a command and returns its output and exit code', async () => {
  assert.deepEqual(await run(['exec', 'web', '-c', 'side', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7']), {
    code: 7,
    stdout: 'out\n',
    stderr: 'err\ncommand terminated with exit code 7\n',
  })
  assert.match(
    front.asked.at(-1)!,
    /^exec web\?command=sh&command=-c&command=.*&container=side&stdin=false&stdout=true&stderr=true&tty=false$/,
  )
  assert.deepEqual(await run(['exec', 'web', '--', 'echo', 'a b']), { code: 0, stdout: 'a b\n', stderr: defaulted })
  assert.deepEqual(await run(['exec', 'web', '-q', '-c', 'app', '--', 'true']), { code: 0, stdout: '', stderr: '' })
})

test('orchctl exec forwards and closes standard input', async () => {
  const input = 'x'.repeat(300_000)
  const ran = await run(['exec', '-i', 'web', '-c', 'app', '--', 'wc', '-c'], { stdin: input })
  assert.deepEqual([ran.code, ran.stdout.trim()], [0, '300000'])
})

test('the output of a remote command cannot control the terminal, except for colors', async () => {
  const args = ['exec', 'web', '-c', 'app', '--', 'printf', '\\033[31mred\\033[0m\\033]0;title\\007\\n']
  const terminal = { out: true, err: true, columns: 80 }
  assert.equal((await run(args, { terminal })).stdout, '\u001b[31mred\u001b[0m^[]0;title^G\n')
  assert.equal((await run(args)).stdout, '\u001b[31mred\u001b[0m\u001b]0;title\u0007\n')
  assert.equal(
    (await run(['logs', 'web', 'app'], { terminal })).stdout,
    'web/app: one\n\u001b[31mred\u001b[0m^[]0;title^G\n',
  )
})

test('orchctl exec reports errors from the server and from the command', async () => {
  assert.match(
    (await run(['exec', 'web', '-c', 'nope', '--', 'x'])).stderr,
    /^error: container nope not found in pod web; its containers are: app/,
  )
  assert.match(
    (await run(['exec', 'refusing', '--', 'x'])).stderr,
    /^Error from server \(Forbidden\): pods "refusing" is forbidden: no/,
  )
  assert.match((await run(['exec', 'nothing', '--', 'x'])).stderr, /pods "nothing" not found/)
  assert.match((await run(['exec', 'web'])).stderr, /at least one command/)
  assert.match((await run(['exec', '-t', 'web', '--', 'x'])).stderr, /-i \(--stdin\) is required for -t/)
})

test('orchctl attach connects to the main process of a container', async () => {
  const ran = await run(['attach', 'web', '-c', 'app', '-i', '-q'], { stdin: 'hello\n' })
  assert.deepEqual(ran, { code: 0, stdout: 'hello\n', stderr: '' })
  assert.match(front.asked.at(-1)!, /^attach web\?container=app&stdin=true/)
})

test('orchctl tree prints owners and dependents with their state', async () => {
  const made = await client.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'root' } })
  const owner = (name: string, uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid })
  const inner = await client.post('/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'inner', ownerReferences: [owner('root', made.body.metadata.uid)] },
  })
  await pod('leaf', [{ name: 'a', image: 'x' }], {
    labels: {},
    ownerReferences: [owner('inner', inner.body.metadata.uid)],
  })
  const { stdout } = await run(['tree', 'cm', 'inner'])
  assert.match(stdout, /^OBJECT +STATE +AGE\nconfigmap\/root .*\nconfigmap\/inner .*\n└─ pod\/leaf +Running +\S+\n$/)
  assert.match(
    (await run(['tree', 'cm/root'])).stdout,
    /\nconfigmap\/root .*\n└─ configmap\/inner .*\n {3}└─ pod\/leaf /,
  )
})

test('orchctl logs prints the logs of a pod, all its containers, a deployment or a selector', async () => {
  const plain = (name: string) => `${name}: one\n\u001b[31mred\u001b[0m\u001b]0;title\u0007\n`
  assert.deepEqual(await run(['logs', 'web']), { code: 0, stdout: plain('web/app'), stderr: defaulted })
  assert.equal((await run(['logs', 'web', '--all-containers'])).stdout, plain('web/app') + plain('web/side'))
  assert.equal((await run(['logs', 'deploy/web', '-c', 'app', '--tail=3', '--since=2m', '-p', '--timestamps'])).code, 0)
  assert.equal(
    front.asked.at(-1),
    'log refusing?container=app&previous=true&timestamps=true&tailLines=3&sinceSeconds=120',
  )
  const { stdout } = await run(['logs', '-l', 'app=web', '-c', 'app', '--prefix', '-f'])
  assert.deepEqual(
    stdout
      .split('\n')
      .filter((line) => line.includes('one'))
      .toSorted(),
    ['[pod/refusing/app] refusing/app: one', '[pod/web/app] web/app: one'],
  )
  assert.match((await run(['logs', 'web', '-l', 'a=b'])).stderr, /only a selector \(-l\) or a POD name is allowed/)
  assert.match(
    (await run(['logs', '-l', 'app=web', '-f', '--max-log-requests=1'])).stderr,
    /follow 2 log streams, but maximum allowed concurrency is 1/,
  )
})

test('orchctl cp copies files and directories to and from a container', async () => {
  mkdirSync(join(directory, 'site/deep'), { recursive: true })
  const long = `${'n'.repeat(120)}.txt`
  writeFileSync(join(directory, 'site/a.txt'), 'a'.repeat(5000))
  writeFileSync(join(directory, 'site/deep', long), 'long')
  writeFileSync(join(directory, 'site/empty'), '')
  mkdirSync(join(directory, 'there'))
  const into = await run(['cp', 'site', `web:${directory}/there`, '-c', 'app'])
  assert.deepEqual(into, { code: 0, stdout: '', stderr: '' })
  assert.equal(readFileSync(join(directory, 'there/site/a.txt'), 'utf8').length, 5000)
  assert.equal(readFileSync(join(directory, 'there/site/deep', long), 'utf8'), 'long')
  const out = await run(['cp', 'default/web:there/site', 'back', '-c', 'app'])
  assert.deepEqual(out, { code: 0, stdout: '', stderr: '' })
  for (const name of ['a.txt', `deep/${long}`, 'empty'])
    assert.deepEqual(readFileSync(join(directory, 'back', name)), readFileSync(join(directory, 'site', name)))
  const one = await run(['cp', 'web:there/site/a.txt', 'one.txt', '-c', 'app'])
  assert.deepEqual(one, { code: 0, stdout: '', stderr: '' })
  assert.equal(readFileSync(join(directory, 'one.txt'), 'utf8').length, 5000)
  assert.match(
    (await run(['cp', 'nothing', 'web:/x', '-c', 'app'])).stderr,
    /nothing doesn't exist in local filesystem/,
  )
  assert.match((await run(['cp', 'a', 'b'])).stderr, /either the source or the destination must be POD:PATH/)
})

test('orchctl cp works with a server that cannot close streams individually', async () => {
  front.protocol = 'v4.channel.k8s.io'
  try {
    writeFileSync(join(directory, 'v4.txt'), 'four')
    assert.equal((await run(['cp', 'v4.txt', `web:${directory}/v4-copy.txt`, '-c', 'app'])).code, 0)
    assert.equal(readFileSync(join(directory, 'v4-copy.txt'), 'utf8'), 'four')
  } finally {
    front.protocol = 'v5.channel.k8s.io'
  }
})

test('orchctl cp retries broken connections up to --retries times', async () => {
  front.breaks = 2
  const failed = await run(['cp', 'web:v4.txt', 'again.txt', '-c', 'app', '--retries=1'])
  assert.deepEqual([failed.code, failed.stderr.match(/retrying/g)?.length], [1, 1])
  front.breaks = 2
  const done = await run(['cp', 'web:v4.txt', 'again.txt', '-c', 'app', '--retries=2'])
  assert.deepEqual([done.code, done.stderr.match(/retrying/g)?.length], [0, 2], done.stderr)
  assert.equal(readFileSync(join(directory, 'again.txt'), 'utf8'), readFileSync(join(directory, 'v4.txt'), 'utf8'))
})

const file = (name: string, content: string) => [
  entryHeader({ name, type: 'file', mode: 0o644, size: content.length }, 0),
  Buffer.from(content),
  padding(content.length),
]
const linkTo = (name: string, target: string) => {
  const header = entryHeader({ name, type: 'file', mode: 0o777, size: 0 }, 0)
  header.write('2', 156)
  header.write(target, 157)
  return header
}

test('orchctl cp rejects archive entries that would escape the target directory through their names or links', async () => {
  const outside = join(directory, 'outside')
  const target = join(directory, 'inside')
  const evil: readonly (readonly [Buffer[], RegExp])[] = [
    [file('data/../../outside', 'x'), /outside of the target/],
    [file('../outside', 'x'), /outside of the target/],
    [file('data/../../../etc/x', 'x'), /outside of the target/],
    [file('/outside', 'x'), /is not in data; skipping it/],
    [[linkTo('data/link', outside), ...file('data/link/x', 'x')], /skipping link: data\/link/],
  ]
  for (const [entries, said] of evil) {
    front.sends = Buffer.concat([...entries, endOfArchive])
    const ran = await run(['cp', 'web:data', 'inside', '-c', 'app'])
    assert.match(ran.stderr, said)
    assert.throws(() => readFileSync(outside), /ENOENT/)
  }
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target)
  mkdirSync(join(directory, 'elsewhere'))
  symlinkSync(join(directory, 'elsewhere'), join(target, 'sub'))
  front.sends = Buffer.concat([...file('data/sub/x', 'x'), endOfArchive])
  assert.match(
    (await run(['cp', 'web:data/.', 'inside', '-c', 'app'])).stderr,
    /sub is a link, which orchctl does not follow/,
  )
  assert.throws(() => readFileSync(join(directory, 'elsewhere/x')), /ENOENT/)
  front.sends = Buffer.concat(file('data/cut', 'xyz')).subarray(0, 513)
  assert.match((await run(['cp', 'web:data', 'cut', '-c', 'app'])).stderr, /ended in the middle of a file/)
})

async function until(running: ReturnType<typeof startOrchctl>, pattern: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = pattern.exec(running.stdout())
    if (found !== null) return found
    await new Promise((resolve) => running.output.once('data', resolve))
  }
}

test('orchctl port-forward handles each connection independently', async (t) => {
  const echo = createServer((socket) => socket.pipe(socket))
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
  t.after(() => echo.close())
  const { port } = echo.address() as AddressInfo
  const running = startOrchctl(['port-forward', 'web', `:${port}`, '--address=127.0.0.1'], surroundings)
  t.after(() => running.stop())
  const [, local] = await until(running, /Forwarding from 127\.0\.0\.1:(\d+) -> \d+\n/)
  const replies = ['one', 'two'.repeat(50_000)].map(async (text) => {
    const socket = connect(Number(local), '127.0.0.1')
    socket.end(text)
    let got = ''
    for await (const chunk of socket) got += chunk
    assert.equal(got.length, text.length)
    assert.equal(got, text)
  })
  await Promise.all(replies)
  running.stop()
  const { code, stderr } = await running.ended
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(
    (await run(['port-forward', 'web', '99999'])).stderr,
    /does not have the form \[LOCAL_PORT:\]REMOTE_PORT/,
  )
  assert.match(
    (await run(['port-forward', 'web', ':nope'])).stderr,
    /^error: pod web does not have a named port 'nope'; (?:it has: |none of its ports has a name)/,
  )
  assert.match((await run(['port-forward', 'web'])).stderr, /at least 1 PORT is required/)
})

test('orchctl proxy serves the API on a local port, and only to this machine', async (t) => {
  const site = mkdtempSync(join(tmpdir(), 'orchctl-www-'))
  t.after(() => rmSync(site, { recursive: true }))
  mkdirSync(join(site, 'inner'))
  writeFileSync(join(site, 'a <b>.html'), 'page')
  writeFileSync(join(site, 'inner', 'index.html'), 'index')
  symlinkSync('/etc', join(site, 'out'))
  const running = startOrchctl(['proxy', '--port=0', `--www=${site}`, '--www-prefix=site'], surroundings)
  t.after(() => running.stop())
  const [, port] = await until(running, /Starting to serve on 127\.0\.0\.1:(\d+)\n/)
  const ask = (path: string, headers: { [name: string]: string } = {}) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      get({ port: Number(port), host: '127.0.0.1', path, headers, agent: false }, async (answer) => {
        let text = ''
        for await (const chunk of answer) text += chunk
        resolve({ status: answer.statusCode, text })
      }).on('error', reject)
    })
  assert.match((await ask('/api/v1/namespaces/default/pods/web')).text, /"name":"web"/)
  const through = await run(['get', 'pod', 'web', '-o', 'name', `--server=http://127.0.0.1:${port}`])
  assert.deepEqual(through, { code: 0, stdout: 'pod/web\n', stderr: '' })
  assert.equal((await ask('/version', { host: 'evil.example.com' })).status, 403)
  assert.equal((await ask('/api/v1/namespaces/default/pods/web/exec?command=x')).status, 403)
  assert.equal((await ask('//api/v1/namespaces/default/pods/web/exec?command=x')).status, 301)
  // The server decodes paths, so the filters check decoded paths.
  assert.equal((await ask('/api/v1/namespaces/default/pods/web/%65xec?command=x')).status, 403)
  assert.equal((await ask('/api/v1/namespaces/default%2fpods')).status, 400)
  assert.equal((await ask('/nothing')).status, 404)
  assert.deepEqual(await ask('/site/a%20%3Cb%3E.html'), { status: 200, text: 'page' })
  assert.deepEqual(await ask('/site/inner/'), { status: 200, text: 'index' })
  assert.equal((await ask('/site/inner')).status, 301)
  assert.match(
    (await ask('/site/')).text,
    /<a href="a%20%3Cb%3E\.html">a &lt;b&gt;\.html<\/a>\n<a href="inner\/">inner\/</,
  )
  assert.equal((await ask('/site/', { host: 'evil.example.com' })).status, 403)
  for (const path of ['none', '..%2f..%2fetc%2fpasswd', 'out/passwd', '%00', '%ff', 'inner%2f..%2f..'])
    assert.equal((await ask(`/site/${path}`)).status, 404, path)
  running.stop()
  assert.equal((await running.ended).code, 0)
})

test('orchctl proxy rejects writes from pages with other origins and accepts writes from its own pages', async (t) => {
  const direct = { env: { KUBECONFIG: join(server.directory, 'admin.kubeconfig') }, directory }
  const running = startOrchctl(['proxy', '--port=0'], direct)
  t.after(() => running.stop())
  const [, port] = await until(running, /Starting to serve on 127\.0\.0\.1:(\d+)\n/)
  const send = async (headers: { [name: string]: string }, { method = 'POST', at = Number(port) } = {}) => {
    const path = '/api/v1/namespaces/default/configmaps'
    const asked = request({ port: at, host: '127.0.0.1', path, method, headers, agent: false })
    asked.end(method === 'GET' ? '' : '{"metadata":{"generateName":"from-a-page-"}}')
    const [answer] = await once(asked, 'response')
    for await (const _ of answer);
    return answer.statusCode
  }
  const json = { 'content-type': 'application/json' }
  const own = `http://127.0.0.1:${port}`
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { origin: own, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])
    assert.equal(await send({ ...json, ...headers }), 403, JSON.stringify(headers))
  const fromOwnPage = { origin: own, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }
  assert.equal(await send({ ...json, ...fromOwnPage }), 201)
  assert.equal(await send({ ...json, origin: `http://localhost:${port}`, host: `localhost:${port}` }), 201)
  assert.equal(await send(fromOwnPage), 415)
  assert.equal(await send({}), 201)
  const get = { method: 'GET' }
  assert.equal(await send({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, get), 200)
  assert.equal(await send({ 'service-worker': 'script' }, get), 403)
  assert.equal(await send({ origin: 'https://evil.example', connection: 'upgrade', upgrade: 'websocket' }, get), 403)
  const open = startOrchctl(['proxy', '--port=0', '--disable-filter'], direct)
  t.after(() => open.stop())
  const [, openPort] = await until(open, /Starting to serve on 127\.0\.0\.1:(\d+)\n/)
  assert.equal(await send({ ...json, origin: 'https://evil.example' }, { at: Number(openPort) }), 201)
})
