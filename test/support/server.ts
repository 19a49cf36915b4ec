/**
 * A real server for a test: `startServer` runs `orch apiserver` as a process of its own (`startUp`: `orch up`, which has
 * the control loops too), on a free port and in a directory of its own, and gives clients for it. The test owns it: `stop`, `kill` and `restart` are its to call,
 * and everything is gone when the test ends.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { HttpTransport, type HttpTransportOptions } from '../../src/client/node/http-transport.ts'
import type { Transport } from '../../src/client/requests/transport.ts'
import { putBeginning } from './begun-data.ts'
import { asForUsers } from './compiled.ts'
import { HttpClient } from './http-client.ts'

export const root = dirname(dirname(import.meta.dirname))
/** Loaded into every server, and its exit code: see there. */
const sentinel = join(root, 'test/support/prototypes.mjs')
export const changedPrototypes = 86

export const tokens = `admin-token,admin,admin-uid,"system:masters"
alice-token,alice,alice-uid,"dev,ops"
bob-token,bob,bob-uid
`

/** What a test needs to talk to a server, wherever that runs. */
export interface Served {
  readonly directory: string
  readonly url: string
  readonly port: number
  /** A client that presents this bearer token. */
  client(token?: string): HttpClient
  /** The way of our own client library to this server, with this bearer token. */
  transport(token?: string): Transport
  /** What a way of one's own to this server needs. */
  credentials(token?: string): HttpTransportOptions
  /** What the server wrote on its terminal so far. */
  output(): string
}

/** A server that is a process of its own. */
export interface ServerHandle extends Served {
  readonly process: ChildProcess
  /** SIGTERM, and waits for the end. */
  stop(): Promise<number | null>
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>
  /** Starts again on the same directory and port. */
  restart(flags?: readonly string[]): Promise<void>
  /** Starts again on the same directory and port, and is killed so many milliseconds later, ready or not. */
  restartAndKill(afterMs: number): Promise<void>
  /** Starts again on the same directory and port, and is sent SIGTERM as soon as it is time, ready or not. */
  restartAndStop(isTime: () => boolean): Promise<{ readonly code: number | null; readonly output: string }>
}

/** Where a test, or a whole file of tests, hands in what is to be done at its end. */
export interface Ending {
  after(run: () => Promise<void>): void
}

type Command = 'apiserver' | 'up'

/** `env` is added to the environment. */
export async function startServer(
  t: Ending,
  flags: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<ServerHandle> {
  return await start(t, { command: 'apiserver', flags, env })
}

/** A server that may open so many files and connections and no more. */
export async function startWithFew(t: Ending, openFiles: number, flags: readonly string[] = []): Promise<ServerHandle> {
  return await start(t, { command: 'apiserver', flags, env: {}, openFiles })
}

/** For tests that look at all ConfigMaps of a namespace: only what they make is there. */
export const withoutRootCa = '--controllers=*,bootstrapsigner,tokencleaner,-root-ca-cert-publisher'

/** What `orch up` is told where a test does not ask for nodes: most look at what they made alone. */
export function noNodes(flags: readonly string[]): string[] {
  return flags.some((flag) => flag.startsWith('--nodes=')) ? [] : ['--nodes=0']
}

/** `orch up` without the loops of a whole cluster, which make pods, except those that `--controllers` names. */
export async function startUp(
  t: Ending,
  flags: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<ServerHandle> {
  const { controlLoops } = await import('../../src/cluster/controllers/all.ts')
  const name = '--controllers='
  const words = (flags.find((flag) => flag.startsWith(name)) ?? '*,bootstrapsigner,tokencleaner').replace(name, '')
  const left = controlLoops.filter((loop) => loop.cluster && !words.split(',').includes(loop.name))
  const controllers = `${name}${[words, ...left.map((loop) => `-${loop.name}`)].join()}`
  return await start(t, {
    command: 'up',
    flags: [...flags.filter((flag) => !flag.startsWith(name)), controllers],
    env,
  })
}

/** Flags that change nothing of what a server begins with. */
const sameBeginning = /^--(?:controllers|nodes|workers|shutdown-[a-z-]+)=/

async function start(t: Ending, how: Pick<Launch, 'command' | 'flags' | 'env' | 'openFiles'>): Promise<ServerHandle> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  writeFileSync(join(directory, 'tokens.csv'), tokens)
  if (how.flags.every((flag) => sameBeginning.test(flag))) await putBeginning(join(directory, 'data'))
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
  readonly directory: string
  readonly port: number
  readonly flags: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly openFiles?: number
}

/** Flags of every server that is a process of its own: `ORCH_TEST_FLAGS=--workers=3 npm test -- faults/`. */
const everyFlags = process.env.ORCH_TEST_FLAGS?.split(' ') ?? []

function spawnServer({ command, directory, port, flags, env, openFiles }: Launch) {
  return spawn(
    'sh',
    [
      '-c',
      openFiles === undefined ? 'exec "$0" "$@"' : `ulimit -n ${openFiles}; exec "$0" "$@"`,
      join(root, 'bin/orch'),
      command,
      `--secure-port=${port}`,
      `--data-dir=${directory}/data`,
      `--admin-kubeconfig=${directory}/admin.kubeconfig`,
      `--token-auth-file=${directory}/tokens.csv`,
      ...everyFlags,
      ...(command === 'up' ? noNodes(flags) : []),
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

/** How long a server may take to end at the end of its test; one that is stopped or hangs does not. */
const patienceMs = 2_000

/** Ends a server at the end of its test, and says whether its prototypes were changed: see `prototypes.mjs`. */
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
