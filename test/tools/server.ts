/**
 * A real server for a test: `startServer` runs `orch apiserver` as a process of its own, on a free port and in a
 * directory of its own, and gives a client for it. The test owns it: `stop`, `kill` and `restart` are its to call,
 * and everything is gone when the test ends.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { HttpClient } from './http-client.ts'

export const root = dirname(dirname(import.meta.dirname))

export const tokens = `admin-token,admin,admin-uid,"system:masters"
alice-token,alice,alice-uid,"dev,ops"
bob-token,bob,bob-uid
`

export interface ServerHandle {
  readonly directory: string
  readonly url: string
  readonly port: number
  readonly process: ChildProcess
  /** A client that presents this bearer token. */
  client(token?: string): HttpClient
  /** What the server wrote on its terminal so far. */
  output(): string
  /** SIGTERM, and waits for the end. */
  stop(): Promise<number | null>
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>
  /** Starts again on the same directory and port. */
  restart(flags?: readonly string[]): Promise<void>
  /** Starts again on the same directory and port, and is killed so many milliseconds later, ready or not. */
  restartAndKill(afterMs: number): Promise<void>
}

export async function startServer(t: Pick<TestContext, 'after'>, flags: readonly string[] = []): Promise<ServerHandle> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  writeFileSync(join(directory, 'tokens.csv'), tokens)
  let running = await launch(directory, 0, flags)
  const port = running.port
  const clients = new Set<HttpClient>()
  const handle: ServerHandle = {
    directory,
    port,
    url: `https://127.0.0.1:${port}`,
    get process() {
      return running.child
    },
    client: (token = 'admin-token') => {
      const client = new HttpClient({ port, token, ca: readFileSync(join(directory, 'data/pki/ca.crt'), 'utf8') })
      clients.add(client)
      return client
    },
    output: () => running.output(),
    stop: () => end(running.child, 'SIGTERM'),
    kill: async () => void (await end(running.child, 'SIGKILL')),
    restart: async (again = flags) => {
      running = await launch(directory, port, again)
    },
    restartAndKill: async (afterMs) => {
      const child = spawnServer(directory, port, flags)
      const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
      await once(child, 'exit')
      clearTimeout(timer)
    },
  }
  t.after(async () => {
    for (const client of clients) client.close()
    await end(running.child, 'SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  })
  return handle
}

interface Running {
  readonly child: ChildProcess
  readonly port: number
  readonly output: () => string
}

function spawnServer(directory: string, port: number, flags: readonly string[]) {
  return spawn(
    join(root, 'bin/orch'),
    [
      'apiserver',
      `--secure-port=${port}`,
      `--data-dir=${directory}/data`,
      `--admin-kubeconfig=${directory}/admin.kubeconfig`,
      `--token-auth-file=${directory}/tokens.csv`,
      ...flags,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
}

async function launch(directory: string, port: number, flags: readonly string[]): Promise<Running> {
  const child = spawnServer(directory, port, flags)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  return await new Promise((resolve, reject) => {
    const look = () => {
      const match = /serving url="https:\/\/[^"]*:(\d+)"/.exec(output)
      if (match) resolve({ child, port: Number(match[1]), output: () => output })
    }
    child.stderr.on('data', look)
    child.on('exit', (code) => reject(new Error(`the server ended with ${code} before it was ready:\n${output}`)))
    child.on('error', reject)
  })
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal)
    await once(child, 'exit')
  }
  return child.exitCode
}
