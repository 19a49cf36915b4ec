/**
 * Tests errors during the start of a server. Each error is reported in one line with advice, before the server
 * accepts requests.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { open } from 'lmdb'
import { PkiFileError } from '../../src/api/pki/files.ts'
import { parseFlags, UsageError } from '../../src/base/flags/flags.ts'
import { startApiServer } from '../../src/server/assembly/api-server.ts'
import { serverFlags } from '../../src/server/flags/options.ts'
import { commandNames, helpFor } from '../../src/server/program/help.ts'
import { StoreError } from '../../src/storage/store/store.ts'
import { HttpClient } from '../support/http-client.ts'
import { makeIdentity } from '../support/identities.ts'
import { long, someOf } from '../support/long.ts'
import { caOf } from '../support/raw-http.ts'
import { root, startServer } from '../support/server.ts'
import { openTestLog } from '../support/test-log.ts'

function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-start-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Flags for servers that write no kubeconfig and serve only a few requests. */
const oneWorker = ['--admin-kubeconfig=', '--workers=1']

/** Starts a server with invalid settings. Returns its exit code and output. */
async function failedStart(args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(join(root, 'bin/orch'), ['apiserver', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), 120_000)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  return { code, said }
}

/** Starts a server in this process and expects a one-line error. Returns the error message. */
async function refusedStart(args: readonly string[]): Promise<string> {
  try {
    const server = await startApiServer(parseFlags(serverFlags, args), { log: openTestLog() })
    await server.stop()
  } catch (error) {
    assert.ok(
      error instanceof UsageError || error instanceof StoreError || error instanceof PkiFileError,
      String(error),
    )
    return error.message
  }
  return assert.fail(`it started with ${args.join(' ')}`)
}

const wrongFlags: readonly (readonly [string[], RegExp])[] = [
  [['--secure-prot=1'], /unknown flag --secure-prot; did you mean --secure-port\?/],
  [['--authorisation-mode=AlwaysAllow'], /did you mean --authorization-mode\?/],
  [['--__proto__=1'], /unknown flag --__proto__/],
  [
    ['--etcd-servers=https://:hunter2@10.0.0.1:2379'],
    /--etcd-servers: the etcd endpoint 10\.0\.0\.1:2379 contains a user name or a password: use --etcd-certfile instead$/,
  ],
  [['--secure-port=70000'], /--secure-port: "70000" is not a port/],
  [['--secure-port=-1'], /--secure-port/],
  [['--secure-port=0x10'], /--secure-port/],
  [['--secure-port'], /--secure-port requires a value/],
  [['--secure-port=0', '--secure-port=0'], /--secure-port is specified twice/],
  [['--service-cluster-ip-range=10.0.0.0/30'], /--service-cluster-ip-range: 10\.0\.0\.0\/30 is too small/],
  [['--service-cluster-ip-range=010.0.0.0/24'], /"010\.0\.0\.0\/24" is not a CIDR range/],
  [
    ['--advertise-address=010.0.0.1'],
    /--advertise-address: "010\.0\.0\.1" is not an IP address: use an address such as 127\.0\.0\.1/,
  ],
  [['--metrics-url=http://a'], /--metrics-url: "http:\/\/a" is not an https URL/],
  [['--service-node-port-range=0-1'], /--service-node-port-range: "0-1" is not a port range/],
  [
    ['--kubelet-preferred-address-types=Elsewhere'],
    /--kubelet-preferred-address-types: "Elsewhere" is not an address type/,
  ],
  [
    ['--bind-address=localhost'],
    /--bind-address: "localhost" is not an IP address: use an address such as 127\.0\.0\.1/,
  ],
  [['--data-dir='], /--data-dir: the name of a directory is required/],
  [
    ['--authorization-mode=Everything'],
    /unknown mode "Everything"; known modes are Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny/,
  ],
  [['--authorization-mode='], /at least one mode/],
  [['--authorization-mode=constructor'], /unknown mode "constructor"/],
  [['--authorization-mode=Node,RBAC,Node'], /--authorization-mode: Node is specified twice/],
  [['--profile=openshift'], /unknown profile "openshift"; known profiles are orch, kubernetes/],
  [['--profile=__proto__'], /unknown profile/],
  [['--history-duration=soon'], /--history-duration: "soon" is not a duration/],
  [['--history-duration=0'], /1s to 24h/],
  [['--history-retention=soon'], /--history-retention: "soon" is not a duration/],
  [['--history-retention=1h,1'], /a size of at least 1Mi/],
  [['--backup-interval=0'], /1s to 576h/],
  [['--backup-keep=0'], /is not a valid number of backups/],
  [['--event-ttl=never'], /--event-ttl: "never" is not a duration/],
  [['--event-ttl=0'], /1s to 10000h/],
  [['--shutdown-grace-period=-1s'], /--shutdown-grace-period/],
  [['--docs=maybe'], /--docs: "maybe" is not one of auto, true, false/],
  [['serve'], /unexpected argument "serve": flags begin with --/],
]

test('the error for an invalid flag suggests the closest flag or the accepted values', () => {
  for (const [args, expected] of wrongFlags) assert.throws(() => parseFlags(serverFlags, args), expected)
})

test('an invalid flag or an unusable listen address is reported in one line', async (t) => {
  const data = `--data-dir=${temporaryDirectory(t)}/data`
  const spoken: typeof wrongFlags = [
    wrongFlags[0]!,
    [['--bind-address=192.0.2.1', '--secure-port=0'], /choose another address with --bind-address/],
  ]
  for (const [args, expected] of spoken) {
    const { code, said } = await failedStart([data, '--admin-kubeconfig=', ...args])
    assert.match(said, expected)
    assert.equal(code, 1, said)
    assert.equal(said.trim().split('\n').length, 1, said)
  }
})

test('the help text lists every flag once and fits in 80 columns', () => {
  const { stdout, status } = spawnSync(join(root, 'bin/orch'), ['apiserver', '--help'], { encoding: 'utf8' })
  assert.equal(status, 0)
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line)
  const listed = stdout.match(/(?<=^ {2,6}(?:-\w, )?)--[a-z0-9-]+/gm) ?? []
  assert.deepEqual([...new Set(listed)], listed)
  for (const { name, help } of Object.values(serverFlags)) {
    assert.ok(stdout.includes(`--${name}`), name)
    assert.ok(stdout.replaceAll(/\s+/g, ' ').includes(help), name)
  }
})

test('orch without arguments prints an overview, and orch help COMMAND describes the command', async () => {
  const orch = (...args: string[]) => spawnSync(join(root, 'bin/orch'), args, { encoding: 'utf8' })
  const overview = orch()
  assert.deepEqual([overview.status, overview.stdout], [2, await helpFor(undefined, undefined)])
  assert.ok(overview.stdout.split('\n').length < 30, overview.stdout)
  assert.ok(commandNames.length >= 13)
  for (const name of commandNames) {
    const text = await helpFor(name, undefined)
    assert.ok(text.startsWith(`orch ${name}: `), text)
    assert.match(overview.stdout, new RegExp(`^  ${name} `, 'm'))
    for (const line of text.split('\n')) assert.ok(line.length <= 80, line)
  }
  const token = await helpFor('token', undefined)
  assert.deepEqual([orch('token', '--help').stdout, orch('help', 'token').stdout], [token, token])
  assert.doesNotMatch(token, /--secure-port/)
  assert.match(await helpFor('flags', undefined), /--secure-port/)
  const unknown = orch('help', 'bogus')
  assert.deepEqual([unknown.status, unknown.stdout], [1, ''])
  assert.match(unknown.stderr, /^orch: no help for "bogus": use orch help flags, or orch help followed by one of up, /)
})

test('errors about missing and invalid files name the file but do not quote its contents', async (t) => {
  const directory = temporaryDirectory(t)
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  const one = await makeIdentity({ commonName: 'one', usages: ['server auth'] })
  const two = await makeIdentity({ commonName: 'two', usages: ['server auth'] })
  const fifo = join(directory, 'fifo')
  assert.equal(spawnSync('mkfifo', [fifo]).status, 0)
  const strange = join(directory, 'strange')
  mkdirSync(strange, { mode: 0o755 })
  file('strange/theirs', 'x')
  const damaged = join(directory, 'damaged')
  mkdirSync(damaged)
  file('damaged/data.mdb', 'x'.repeat(10_000))
  const garbage = file('garbage.pem', '-----BEGIN CERTIFICATE-----\nc2VjcmV0\n-----END CERTIFICATE-----\n')
  const table: readonly (readonly [string[], RegExp])[] = [
    [[`--tls-cert-file=${garbage}`], /--tls-cert-file and --tls-private-key-file must be specified together/],
    [
      [`--tls-cert-file=${directory}/none`, `--tls-private-key-file=${garbage}`],
      /--tls-cert-file: cannot read .*none: ENOENT/,
    ],
    [
      [`--tls-cert-file=${garbage}`, `--tls-private-key-file=${garbage}`],
      /--tls-cert-file: .* contains no usable PEM certificate/,
    ],
    [
      [`--tls-cert-file=${file('one.crt', one.certificate)}`, `--tls-private-key-file=${join(directory, 'one.crt')}`],
      /--tls-private-key-file: .*one\.crt contains no usable PEM key/,
    ],
    [
      [`--tls-cert-file=${join(directory, 'one.crt')}`, `--tls-private-key-file=${file('two.key', two.key)}`],
      /the key in .*two\.key does not match the certificate in .*one\.crt/,
    ],
    [['--tls-san=good.example,bad name'], /--tls-san: not a DNS name: "bad name"/],
    [['--tls-san=010.1.2.3'], /--tls-san: not a DNS name: "010\.1\.2\.3"/],
    [['--cors-allowed-origins=(x'], /--cors-allowed-origins: "\(x" is not a regular expression/],
    [[`--client-ca-file=${directory}/none`], /--client-ca-file: cannot read .*none/],
    [[`--client-ca-file=${file('empty.pem', '')}`], /--client-ca-file: .*contains no PEM certificate/],
    [[`--client-ca-file=${garbage}`], /--client-ca-file/],
    [[`--token-auth-file=${directory}/none`], /--token-auth-file: cannot read .*none/],
    [[`--token-auth-file=${directory}`], /--token-auth-file: cannot read .*: it is a directory/],
    [[`--token-auth-file=${file('short.csv', 'good-token,a,1\nhidden-token,b\n')}`], /short\.csv: line 2: /],
    [[`--token-auth-file=${file('quote.csv', 'hidden-token,"b,1\n')}`], /quote\.csv: line 1: /],
    [
      [`--token-auth-file=${file('twice.csv', 'hidden-token,a,1\nhidden-token,b,2\n')}`],
      /twice\.csv: line 2: .*more than once/,
    ],
    // These files never end, so reading them would block or exhaust the memory.
    [[`--token-auth-file=${fifo}`], /--token-auth-file: cannot read .*fifo: it is not a regular file/],
    [['--token-auth-file=/dev/zero'], /--token-auth-file: cannot read \/dev\/zero: it is not a regular file/],
    [
      [`--data-dir=${file('plain', 'x')}`],
      /cannot use the data directory .*plain: .*plain is not a directory; choose another directory with --data-dir/,
    ],
    [[`--data-dir=${join(directory, 'plain', 'x')}`], /cannot be used: ENOTDIR.*--data-dir/],
    [['--data-dir=/proc/x'], /cannot use the data directory \/proc\/x: ENOENT.*--data-dir/],
    [['--data-dir=/proc/self/x/y'], /cannot be used: ENOENT.*--data-dir/],
    [[`--data-dir=${strange}`], /strange: other users can access it, and it already contained "theirs"/],
    [[`--data-dir=${damaged}`], /damaged.data\.mdb is damaged.*: restore a backup, or choose another --data-dir/],
    [
      ['--admin-kubeconfig=/proc/x/y'],
      /--admin-kubeconfig: cannot write \/proc\/x\/y: ENOENT.*--admin-kubeconfig= to write no file$/m,
    ],
    [[`--admin-kubeconfig=${directory}`], /--admin-kubeconfig: cannot write .*: EISDIR/],
    [[`--admin-kubeconfig=${directory}/plain/x`], /--admin-kubeconfig: cannot write .*plain is not a directory/],
  ]
  const start = (i: number, begin: (args: readonly string[]) => Promise<string>) => {
    const [args] = table[i]!
    return begin([
      '--secure-port=0',
      ...(args[0]!.startsWith('--admin-kubeconfig') ? [] : ['--admin-kubeconfig=']),
      ...(args[0]!.startsWith('--data-dir') ? [] : [`--data-dir=${directory}/data-${i}`]),
      ...args,
    ])
  }
  const check = (i: number, said: string) => {
    assert.match(said, table[i]![1])
    assert.ok(!said.includes('hidden-token') && !said.includes('c2VjcmV0'), said)
    assert.equal(said.trim().split('\n').length, 1, said)
  }
  for (const i of someOf([...table.keys()], 12)) check(i, await start(i, refusedStart))
  // Start real processes, which report the same errors. There is one row for each kind of one-line error. Other tests
  // start processes with a wrong flag and with an unusable data directory.
  const alsoSpoken = long ? ['--token-auth-file', '--data-dir'] : []
  const spoken = ['--tls-cert-file', '--admin-kubeconfig', ...alsoSpoken].map((flag) =>
    table.findLastIndex(([args]) => args[0]!.startsWith(flag)),
  )
  for (const i of spoken)
    check(
      i,
      await start(i, async (args) => {
        const { code, said } = await failedStart(args)
        assert.equal(code, 1, said)
        return said
      }),
    )
  assert.equal(statSync(strange).mode & 0o777, 0o755, 'the directory of somebody else was changed')
})

test('the error for a port in use contains advice', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const { port } = other.address() as { port: number }
  const fresh = `--data-dir=${temporaryDirectory(t)}/data`
  const taken = await failedStart([fresh, '--admin-kubeconfig=', `--secure-port=${port}`])
  assert.match(taken.said, new RegExp(`port ${port} on 127\\.0\\.0\\.1 is in use: .*--secure-port`))
  assert.equal(taken.code, 1)
})

test('a server prevents other servers from using its data directory', async (t) => {
  const server = await startServer(t)
  await t.test('files in the data directory are readable only by their owner', () => {
    const { directory } = server
    const data = join(directory, 'data')
    assert.equal(statSync(data).mode & 0o777, 0o700)
    const secret = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) => !name.endsWith('.crt'))
    for (const name of secret) {
      const { mode } = statSync(join(data, name))
      assert.equal(mode & 0o077, 0, `${name} has mode ${(mode & 0o777).toString(8)}`)
    }
    for (const name of ['ca.key', 'serving.key', 'admin.key'])
      assert.equal(statSync(join(data, 'pki', name)).mode & 0o777, 0o600, name)
    assert.equal(statSync(join(directory, 'admin.kubeconfig')).mode & 0o777, 0o600)
  })

  await t.test('the error for a data directory in use contains advice', async () => {
    const second = await failedStart([`--data-dir=${server.directory}/data`, '--admin-kubeconfig=', '--secure-port=0'])
    assert.match(
      second.said,
      /data directory .* is in use by another process: stop that process, or use another directory/,
    )
    assert.equal(second.code, 1)
    assert.equal((await server.client().get('/livez')).status, 200)
  })

  await server.stop()
  await t.test('without a token file, every static token is invalid', async (t) => {
    const child = spawn(
      join(root, 'bin/orch'),
      ['apiserver', `--data-dir=${server.directory}/data`, ...oneWorker, `--secure-port=${server.port}`],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    const ended = once(child, 'exit')
    t.after(async () => {
      child.kill('SIGKILL')
      await ended
    })
    await once(child.stderr, 'data')
    for (const [token, status] of [
      ['admin-token', 401],
      ['', 403],
    ] as const) {
      const client = new HttpClient({ port: server.port, token, ca: caOf(server) })
      t.after(() => client.close())
      assert.equal((await client.get('/api/v1/namespaces')).status, status)
    }
  })

  await t.test('a data directory in a newer format is left unchanged', async () => {
    const file = open({ path: join(server.directory, 'data'), keyEncoding: 'binary', encoding: 'binary', maxDbs: 8 })
    const meta = file.openDB({ name: 'meta', keyEncoding: 'binary', encoding: 'binary' })
    await meta.put(Buffer.from('format'), Buffer.from([0, 0, 0, 99]))
    await file.close()
    await assert.rejects(server.restart(), /the data has format 99, but this program reads format 3/)
  })
})

test("the server writes the administrator's key without following an existing file or link", async (t) => {
  const directory = temporaryDirectory(t)
  const victim = join(directory, 'victim')
  const config = join(directory, 'admin.kubeconfig')
  writeFileSync(victim, 'theirs')
  chmodSync(victim, 0o666)
  symlinkSync(victim, config)
  // The shell replaces itself with the server, so `$$` is the server's process ID, which was once part of a temporary
  // file name.
  const script = 'ln -s "$0" "$1.$$"; ln -s "$0" "$1.tmp"; shift; exec "$@"'
  const data = `--data-dir=${directory}/data`
  const args = ['apiserver', '--secure-port=0', data, `--admin-kubeconfig=${config}`, '--workers=1']
  const child = spawn('sh', ['-c', script, victim, config, join(root, 'bin/orch'), ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  for await (const chunk of child.stderr) {
    said += chunk
    if (said.includes('serving url')) break
  }
  assert.match(said, /serving url/)
  assert.equal(readFileSync(victim, 'utf8'), 'theirs')
  assert.ok(lstatSync(config).isFile())
  assert.equal(lstatSync(config).mode & 0o777, 0o600)
})

test('a full disk is reported and does not terminate the server with a signal', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-full-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'orch-test', directory], { encoding: 'utf8' })
  t.after(() => {
    spawnSync('umount', [directory])
    rmSync(directory, { recursive: true, force: true })
  })
  assert.equal(mounted.status, 0, `this test needs to mount a small tmpfs (root): ${mounted.stderr}`)
  mkdirSync(join(directory, 'data'))
  writeFileSync(join(directory, 'filler'), Buffer.alloc(1536 * 1024))
  const { code, said } = await failedStart([`--data-dir=${directory}/data`, ...oneWorker, '--secure-port=0'])
  assert.match(said, /not enough space in .*data: \d+ bytes are free/)
  assert.equal(code, 1)
})

test('in a checkout that is not installed or cannot be bundled, the error explains what to do', (t) => {
  const directory = temporaryDirectory(t)
  for (const part of ['bin', 'scripts', 'package-lock.json'])
    cpSync(join(root, part), join(directory, part), { recursive: true })
  mkdirSync(join(directory, 'src/server/program'), { recursive: true })
  writeFileSync(join(directory, 'src/server/program/orch.ts'), 'const x: =\n')
  const start = () => {
    const launch = [join(directory, 'bin/launch.cjs'), 'orch', 'version']
    const { status, stderr } = spawnSync(process.execPath, launch, { encoding: 'utf8' })
    assert.equal(status, 1)
    return stderr
  }
  assert.equal(start(), `orch: dependencies are not installed: run \`npm ci\` in ${directory}\n`)
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  assert.match(start(), /^orch: dist\/ is older than src\/ and cannot be rebuilt: .*\n$/)
})
