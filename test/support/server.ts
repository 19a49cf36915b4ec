/**
 * A real server for a test: `startServer` runs `orch apiserver` in a separate process, and `startUp` runs `orch up`,
 * which includes the control loops. The server uses a free port and its own directory, and the module provides clients
 * for it. The test may call `stop`, `kill` and `restart`. The server and its files are removed when the test ends.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { oldestVersion } from '../../src/api/versions/emulated-version.ts'
import { HttpTransport, type HttpTransportOptions } from '../../src/client/node/http-transport.ts'
import type { Transport } from '../../src/client/requests/transport.ts'
import { asForUsers } from './compile-cache.ts'
import { HttpClient } from './http-client.ts'
import { writeInitialData } from './initial-data.ts'

export const root = dirname(dirname(import.meta.dirname))
/** The prototype guard that every server loads, and its exit code. */
const sentinel = join(root, 'test/support/prototypes.mjs')
export const changedPrototypes = 86

export const tokens = `admin-token,admin,admin-uid,"system:masters"
alice-token,alice,alice-uid,"dev,ops"
bob-token,bob,bob-uid
`

/** Access to a server, either in this process or in a separate process. */
export interface Served {
  readonly directory: string
  readonly url: string
  readonly port: number
  /** Returns a client that authenticates with the given bearer token. */
  client(token?: string): HttpClient
  /** Returns a transport of the client library that authenticates with the given bearer token. */
  transport(token?: string): Transport
  /** Returns the options for a custom transport to this server. */
  credentials(token?: string): HttpTransportOptions
  /** Returns the output of the server so far. */
  output(): string
}

/** A server in a separate process. */
export interface ServerHandle extends Served {
  readonly process: ChildProcess
  /** Sends SIGTERM to the server and waits until it exits. */
  stop(): Promise<number | null>
  /** Sends SIGKILL to the server and waits until it exits. */
  kill(): Promise<void>
  /** Restarts the server on the same directory and port. */
  restart(flags?: readonly string[]): Promise<void>
  /**
   * Restarts the server on the same directory and port. Kills it after the given number of milliseconds, even if it is
   * not ready yet.
   */
  restartAndKill(afterMs: number): Promise<void>
  /**
   * Restarts the server on the same directory and port. Sends SIGTERM as soon as the condition holds, even if the
   * server is not ready yet.
   */
  restartAndStop(isTime: () => boolean): Promise<{ readonly code: number | null; readonly output: string }>
}

/** Registers cleanup functions of a test or a test file. */
export interface Ending {
  after(run: () => Promise<void>): void
}

/**
 * Returns the flag for the Kubernetes version that a server emulates unless the test chooses one. Test files that run
 * at several versions (`versions.ts`) use the version of the run. All other files use 1.23 under both profiles.
 */
export function versionFlags(flags: readonly string[]): string[] {
  const version = process.env.ORCH_TEST_VERSION ?? (flags.includes('--profile=kubernetes') ? oldestVersion : undefined)
  return version === undefined || flags.some((flag) => flag.startsWith('--emulated-version='))
    ? []
    : [`--emulated-version=${version}`]
}

type Command = 'apiserver' | 'up'

/** Starts `orch apiserver`. `env` is added to the environment. */
export async function startServer(
  t: Ending,
  flags: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<ServerHandle> {
  return await start(t, { command: 'apiserver', flags, env })
}

/** Starts a server of another release. `program` is the path of its `orch`. */
export async function startRelease(t: Ending, program: string, flags: readonly string[] = []): Promise<ServerHandle> {
  return await start(t, { command: 'apiserver', program, flags, env: {} })
}

/** Starts a server with low limits on open files and connections. */
export async function startWithFew(t: Ending, openFiles: number, flags: readonly string[] = []): Promise<ServerHandle> {
  return await start(t, { command: 'apiserver', flags, env: {}, openFiles })
}

/** Prevents the server from creating ConfigMaps itself, for tests that list all ConfigMaps in a namespace. */
export const withoutRootCa = '--controllers=*,bootstrapsigner,tokencleaner,-root-ca-cert-publisher'

/**
 * Returns the flag that disables simulated nodes, unless the test requests nodes. Most tests check only their own
 * objects and need no nodes.
 */
export function noNodes(flags: readonly string[]): string[] {
  return flags.some((flag) => flag.startsWith('--nodes=')) ? [] : ['--nodes=0']
}

/** Starts `orch up` without the loops that create pods, unless `--controllers` names them. */
export async function startUp(
  t: Ending,
  flags: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<ServerHandle> {
  const { controlLoops } = await import('../../src/cluster/controllers/all.ts')
  const name = '--controllers='
  const words = (flags.find((flag) => flag.startsWith(name)) ?? '*,bootstrapsigner,tokencleaner').replace(name, '')
  const excludedLoops = controlLoops.filter((loop) => loop.cluster && !words.split(',').includes(loop.name))
  const controllers = `${name}${[words, ...excludedLoops.map((loop) => `-${loop.name}`)].join()}`
  return await start(t, {
    command: 'up',
    flags: [...flags.filter((flag) => !flag.startsWith(name)), controllers],
    env,
  })
}

/** Flags that do not affect the initial content of a server. */
const sameBeginning = /^--(?:controllers|nodes|workers|shutdown-[a-z-]+)=/

async function start(t: Ending, how: Omit<Launch, 'directory' | 'port'>): Promise<ServerHandle> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  writeFileSync(join(directory, 'tokens.csv'), tokens)
  if (how.flags.every((flag) => sameBeginning.test(flag))) await writeInitialData(join(directory, 'data'))
  let running = await launch({ ...how, directory, port: 0 })
  const port = running.port
  const clients = new Set<HttpClient | HttpTransport>()
  const readAuthority = () => readFileSync(join(directory, 'data/pki/ca.crt'), 'utf8')
  const handle: ServerHandle = {
    directory,
    port,
    url: `https://127.0.0.1:${port}`,
    get process() {
      return running.child
    },
    client: (token = 'admin-token') => {
      const client = new HttpClient({ port, token, ca: readAuthority() })
      clients.add(client)
      return client
    },
    transport: (token = 'admin-token') => {
      const transport = new HttpTransport(handle.credentials(token))
      clients.add(transport)
      return transport.send
    },
    credentials: (token = 'admin-token') => ({
      server: handle.url,
      authority: readAuthority(),
      token: () => token,
    }),
    output: () => running.output(),
    stop: () => end(running.child, 'SIGTERM'),
    kill: async () => void (await end(running.child, 'SIGKILL')),
    restart: async (flags = how.flags) => {
      running = await launch({ ...how, directory, port, flags })
    },
    restartAndKill: async (afterMs) => {
      const child = spawnServer({ ...how, directory, port })
      const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
      await once(child, 'exit')
      clearTimeout(timer)
    },
    restartAndStop: async (isTime) => {
      const child = spawnServer({ ...how, directory, port })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
      while (!isTime() && child.exitCode === null) await pause(1)
      return { code: await end(child, 'SIGTERM'), output }
    },
  }
  t.after(async () => {
    for (const client of clients) client.close()
    const changed = await endWatched(running)
    rmSync(directory, { recursive: true, force: true })
    if (changed) throw new Error(`an input reached a prototype in the server:\n${running.output()}`)
  })
  return handle
}

interface Running {
  readonly child: ChildProcess
  readonly port: number
  readonly output: () => string
}

interface Launch {
  readonly command: Command
  /** The path of `orch`. Defaults to the program of this checkout. */
  readonly program?: string
  readonly directory: string
  readonly port: number
  readonly flags: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly openFiles?: number
}

/** Flags for every server in a separate process, for example `ORCH_TEST_FLAGS=--workers=3 npm test -- faults/`. */
const everyFlags = process.env.ORCH_TEST_FLAGS?.split(' ') ?? []

/**
 * Returns the flag for one worker unless the flags set the number of workers, so that the load of the machine does not
 * affect tests.
 */
function workerFlags(flags: readonly string[]): string[] {
  return [...everyFlags, ...flags].some((flag) => flag.startsWith('--workers=')) ? [] : ['--workers=1']
}

function spawnServer({ command, program = join(root, 'bin/orch'), directory, port, flags, env, openFiles }: Launch) {
  return spawn(
    'sh',
    [
      '-c',
      openFiles === undefined ? 'exec "$0" "$@"' : `ulimit -n ${openFiles}; exec "$0" "$@"`,
      program,
      command,
      `--secure-port=${port}`,
      `--data-dir=${directory}/data`,
      `--admin-kubeconfig=${directory}/admin.kubeconfig`,
      `--token-auth-file=${directory}/tokens.csv`,
      ...everyFlags,
      ...workerFlags(flags),
      ...(command === 'up' ? noNodes(flags) : []),
      ...versionFlags(flags),
      ...flags,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...asForUsers(),
        ...env,
        NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --import=${sentinel}`,
        ORCH_SENTINEL: 'server',
      },
    },
  )
}

async function launch(how: Launch): Promise<Running> {
  const child = spawnServer(how)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  return await new Promise((resolve, reject) => {
    const look = () => {
      const match = /serving (?:at |url=")https:\/\/[^" ]*:(\d+)\b/.exec(output)
      if (match) resolve({ child, port: Number(match[1]), output: () => output })
    }
    for (const stream of [child.stdout, child.stderr]) stream.on('data', look)
    child.on('exit', (code) => reject(new Error(`the server ended with ${code} before it was ready:\n${output}`)))
    child.on('error', reject)
  })
}

/**
 * Maximum time in milliseconds for a server to exit at the end of its test. A server that is suspended or hangs does
 * not exit.
 */
const patienceMs = 2_000

/**
 * Stops a server at the end of its test. Returns whether prototypes were changed in the server (see `prototypes.mjs`).
 */
async function endWatched({ child }: Running): Promise<boolean> {
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs)
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGUSR2')
    await once(child, 'exit')
  }
  clearTimeout(timer)
  return child.exitCode === changedPrototypes
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal)
    await once(child, 'exit')
  }
  return child.exitCode
}
