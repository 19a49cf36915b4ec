/**
 * A real server in the test's own process, over TLS, with its store in memory (`initial-store.ts`) unless its flags
 * configure etcd or history. `serve` is for tests that only send requests. Such a server costs a tenth as much as a
 * separate process (`server.ts`), which is for tests that stop, kill, restart or measure the server. `startInProcess`
 * is for tests that need more than flags and responses: kinds created at run time, and the number of open watches.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kind } from '../../src/api/schema/kind.ts'
import { parseFlags } from '../../src/base/flags/flags.ts'
import { openLog } from '../../src/base/telemetry/log.ts'
import { HttpTransport } from '../../src/client/node/http-transport.ts'
import { type ApiServer, startApiServer } from '../../src/server/assembly/api-server.ts'
import { type LoopFiles, startOwnControlLoops } from '../../src/server/cluster/control-loops.ts'
import { readLoopFiles } from '../../src/server/cluster/server-with-loops.ts'
import { simulatedNodes } from '../../src/server/cluster/simulated-nodes.ts'
import { type ServerOptions, serverFlags } from '../../src/server/flags/options.ts'
import { upFlags } from '../../src/server/flags/up.ts'
import { openConsole } from '../../src/server/program/console-link.ts'
import { greeting } from '../../src/server/program/greeting.ts'
import type { MemoryStore } from '../../src/storage/store/memory.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { HttpClient } from './http-client.ts'
import { openMemoryStore, saveInitialContent } from './initial-store.ts'
import { type Ending, noNodes, type Served, tokens, versionFlags } from './server.ts'
import { openTestLog } from './test-log.ts'

export interface InProcess {
  readonly server: ApiServer
  readonly port: number
  /** A client that acts as an administrator. */
  readonly client: HttpClient
  /** CA certificate of the server. */
  readonly ca: string
  readonly directory: string
  /** Stops the server and removes its files. */
  stop(): Promise<void>
}

/** A server that can be restarted, optionally with other flags. A restart preserves its objects and its port. */
export interface Restartable extends Served {
  /**
   * The server's store, for tests that change the store while the server is stopped. Unused if the flags specify
   * another store.
   */
  readonly store: Store
  stop(): Promise<void>
  restart(flags?: readonly string[]): Promise<void>
}

/** Starts a server with the given flags. The server stops at the end of the test. */
export async function serve(t: Ending, flags: readonly string[] = []): Promise<Restartable> {
  return await serveWith(t, flags, runServer)
}

/**
 * Starts a server with the control loops of `orch up`. Loops that create pods run only if `--controllers` names them.
 * Nodes run only if the flags request them. They run in this thread, like those of `orch/testing`, because starting a
 * thread from the sources costs more than half a second of CPU time.
 */
export async function serveUp(t: Ending, flags: readonly string[] = []): Promise<Restartable> {
  return await serveWith(t, flags, runAll)
}

/** Like `serveUp`, but the nodes run in a separate thread, as they do in `orch up`. Only these nodes support KWOK. */
export async function serveUpWithThread(t: Ending, flags: readonly string[] = []): Promise<Restartable> {
  return await serveWith(t, flags, runAllWithThread)
}

/** Starts a server with the given arguments. Uses the given store unless the arguments specify another one. */
type Run = (args: readonly string[], place: Place) => Promise<Started>
interface Place {
  readonly store: MemoryStore
  readonly write: (line: string) => void
}
type Started = Pick<ApiServer, 'url' | 'stop'>

async function serveWith(t: Ending, flags: readonly string[], run: Run): Promise<Restartable> {
  const directory = newDirectory()
  let output = ''
  const write = (line: string) => (output += line)
  const start = (port: number, flags: readonly string[], store: MemoryStore) => {
    const ownFlags = [...flagsFor(directory, port), `--admin-kubeconfig=${directory}/admin.kubeconfig`]
    return run([...ownFlags, ...versionFlags(flags), ...flags], { store, write })
  }
  const way = [run.name, ...versionFlags(flags), ...flags].join(' ')
  let store = await openMemoryStore(way)
  let running: Started | undefined = await start(0, flags, store)
  await saveInitialContent(way, store)
  const { url } = running
  const port = Number(new URL(url).port)
  const stop = async () => {
    const stopped = running
    running = undefined
    await stopped?.stop()
    if (stopped !== undefined) store = store.reopened()
  }
  const clients = clientsOf({ url, port, authority: () => readFileSync(join(directory, 'data/pki/ca.crt'), 'utf8') })
  t.after(async () => {
    clients.close()
    await stop()
    rmSync(directory, { recursive: true, force: true })
  })
  return {
    directory,
    url,
    port,
    stop,
    get store() {
      return store
    },
    client: clients.client,
    transport: clients.transport,
    credentials: clients.credentials,
    output: () => output,
    restart: async (next = flags) => {
      await stop()
      output = ''
      running = await start(port, next, store).catch((error: unknown) => {
        // A failed start closes the store, so it is reopened for the next start.
        store = store.reopened()
        throw error
      })
    },
  }
}

const runServer: Run = async (args, { store, write }) => {
  const options = parseFlags(serverFlags, args)
  const { log, ...environment } = environmentOf(options, store, write)
  const server = await startApiServer(options, { ...environment, log })
  log.info('serving', { url: server.url, profile: options.profile })
  return server
}

const runAll: Run = (args, place) => runUp(args, place, { inProcessNodes: simulatedNodes })
const runAllWithThread: Run = (args, place) => runUp(args, place, {})

async function runUp(
  args: readonly string[],
  { store, write }: Place,
  nodes: Pick<LoopFiles, 'inProcessNodes'>,
): Promise<Started> {
  const options = parseFlags({ ...serverFlags, ...upFlags }, [...noNodes(args), ...args])
  const { defaultLimitRange: defaultLimits } = options
  const environment = {
    ...environmentOf(options, store, write),
    defaultLimits,
    restrictsNodes: true,
    servesMetrics: options.nodes > 0,
  }
  const console = openConsole({ options, up: options }, {})
  const server = await startApiServer(options, { ...environment, console: console.access })
  write(greeting(server.url, options, console.address(server.url)))
  // As in test servers, `*` does not include the loops that need a cluster.
  const files = { ...(await readLoopFiles(options)), ...nodes }
  const loops = startOwnControlLoops(server, { ...options, ephemeral: true }, files)
  const stop = async () => {
    await loops.stop()
    await server.stop()
  }
  return { url: server.url, stop }
}

function environmentOf(options: ServerOptions, store: MemoryStore, write: (line: string) => void) {
  const { verbosity: level, loggingFormat: format } = options
  return { log: openLog({ level, format, write }), ...(isInMemory(options) ? { store } : {}) }
}

/**
 * Whether the server can use the memory store. The memory store keeps all history, so it cannot replace etcd or test
 * compacted history.
 */
function isInMemory({ etcdServers, historyDuration }: ServerOptions): boolean {
  return etcdServers.length === 0 && historyDuration === parseFlags(serverFlags, []).historyDuration
}

/** Creates clients of a server, and closes all of them at the end. */
function clientsOf({ url, port, authority }: { url: string; port: number; authority: () => string }) {
  const clients = new Set<HttpClient | HttpTransport>()
  const keep = <C extends HttpClient | HttpTransport>(client: C): C => {
    clients.add(client)
    return client
  }
  const credentials = (token = 'admin-token') => ({ server: url, authority: authority(), token: () => token })
  return {
    client: (token = 'admin-token') => keep(new HttpClient({ port, token, ca: authority() })),
    transport: (token?: string) => keep(new HttpTransport(credentials(token))).send,
    credentials,
    close: () => {
      for (const client of clients) client.close()
    },
  }
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  writeFileSync(join(directory, 'tokens.csv'), tokens)
  return directory
}

function flagsFor(directory: string, port = 0): readonly string[] {
  return [`--secure-port=${port}`, `--data-dir=${directory}/data`, `--token-auth-file=${directory}/tokens.csv`]
}

/** Does nothing. Passing this function as `prepare` makes the server use an empty embedded store. */
export const embedded = async (): Promise<void> => {}

/**
 * Starts a server in this process. If `prepare` is given, it is called with the data directory before the server opens
 * the directory. In that case, the server uses the embedded store and emulates the version recorded in that store.
 */
export async function startInProcess(
  kinds?: readonly Kind[],
  flags: readonly string[] = [],
  prepare?: (data: string) => Promise<void>,
): Promise<InProcess> {
  const directory = newDirectory()
  await prepare?.(join(directory, 'data'))
  const version = prepare === undefined ? versionFlags(flags) : []
  const options = parseFlags(serverFlags, [...flagsFor(directory), '--admin-kubeconfig=', ...version, ...flags])
  const way = [...version, ...flags, ...(kinds ?? []).map(({ kind }) => kind)].join(' ')
  const store = await openMemoryStore(way)
  const isElsewhere = prepare !== undefined || !isInMemory(options)
  const server = await startApiServer(options, {
    log: openTestLog(),
    ...(kinds && { kinds }),
    ...(isElsewhere ? {} : { store }),
  })
  await saveInitialContent(way, store)
  const ca = readFileSync(join(directory, 'data/pki/ca.crt'), 'utf8')
  const port = Number(new URL(server.url).port)
  const client = new HttpClient({ port, token: 'admin-token', ca })
  return {
    server,
    port,
    client,
    ca,
    directory,
    stop: async () => {
      client.close()
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
