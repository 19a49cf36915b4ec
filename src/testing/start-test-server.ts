/**
 * Starts test servers. Each test server consists of the parts of `orch up`, a store of its own, and functions that
 * tests use to inspect or change the server.
 */
import { join } from 'node:path'
import { serviceAccountName } from '../api/model/user.ts'
import { systemNamespace } from '../apiserver/upkeep/system-objects.ts'
import { removeTemporary, temporaryDirectory } from '../base/files/temporary-directory.ts'
import { parseFlags, UsageError } from '../base/flags/flags.ts'
import { openLog } from '../base/telemetry/log.ts'
import { HttpTransport } from '../client/node/http-transport.ts'
import { Client } from '../client/requests/client.ts'
import type { Transport } from '../client/requests/transport.ts'
import { controlLoops } from '../cluster/controllers/all.ts'
import { type ApiServer, startApiServer } from '../server/assembly/api-server.ts'
import { managerUser, startOwnControlLoops } from '../server/cluster/control-loops.ts'
import { simulatedNodes } from '../server/cluster/simulated-nodes.ts'
import { type ServerOptions, serverFlags } from '../server/flags/options.ts'
import { type UpOptions, upFlags } from '../server/flags/up.ts'
import type { Store } from '../storage/store/store.ts'
import { readAuthority, writeAuthority } from './authority-files.ts'
import { Calls } from './calls.ts'
import { cutOff, Failures } from './failures.ts'
import { makeKubeconfig } from './kubeconfigs.ts'
import { assertNodeFits } from './node-version.ts'
import { settled } from './settled.ts'
import type { Snapshot } from './snapshot.ts'
import { restore, type StoredSnapshot, takeSnapshot } from './snapshots.ts'
import { keepBeginning, knownBeginning, openTestStore } from './stores.ts'
import { TestClock } from './test-clock.ts'
import type { TestServer, TestServerOptions, TestUser, UserOptions } from './test-server.ts'
import { Users } from './users.ts'

/**
 * Starts an API server with its control loops in this process. Resolves when the server is ready. `close` stops it.
 *
 * @example
 * const server = await startTestServer()
 * const alice = server.user('alice', { groups: ['developers'] })
 * await alice.client.list(pods)              // 403, until RBAC says otherwise
 * execFileSync('kubectl', ['--kubeconfig', server.kubeconfig.file, 'get', 'namespaces'])
 * await server.reset()
 * await server.close()
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  assertNodeFits(process.versions.node)
  return await start(options, undefined)
}

/** Starts a server. A fork also accepts its parent's users. */
async function start(options: TestServerOptions, parent: Users | undefined): Promise<TestServer> {
  await using opened = new AsyncDisposableStack()
  const directory = temporaryDirectory('orch-testing-')
  opened.defer(() => removeTemporary(directory))
  const flags = flagsOf(options, directory)
  const serverContext = { directory, flags, clock: new TestClock(options.startAt), users: new Users(parent) }
  const calls = new Calls(isOwnUser)
  const failures = new Failures(calls)
  opened.defer(() => failures.close())

  const way = JSON.stringify([options.controlLoops ?? true, flags.profile, flags.emulatedVersion, options.flags ?? []])
  const from = storedOf(options.from, flags) ?? knownBeginning(way)
  const eventTtlMs = flags.eventTtl
  const store = await openTestStore(
    { kind: options.store ?? 'memory', directory, clock: serverContext.clock, eventTtlMs },
    from,
  )
  if (from !== undefined) writeAuthority(directory, from.authority)
  const server = await startServer(options, { ...serverContext, store, calls, failures, opened })
  const isSettled = options.from === undefined && from !== undefined
  if (hasLoops(options) && isSettled) runLoopsLater(server, { flags, opened })
  else if (hasLoops(options)) await runLoops(server, { flags, opened }).then(() => settled(store))
  const authority = from?.authority ?? readAuthority(directory)
  const baseline = await takeSnapshot(store, { profile: flags.profile, authority })
  if (options.from === undefined) keepBeginning(way, baseline)
  return new RunningTestServer(options, {
    ...serverContext,
    store,
    calls,
    failures,
    server,
    baseline,
    opened: opened.move(),
  })
}

type Flags = ServerOptions & UpOptions

/** The parts of a test server and its functions for tests. */
interface TestServerContext {
  readonly directory: string
  readonly flags: Flags
  readonly clock: TestClock
  readonly users: Users
  readonly store: Store
  readonly calls: Calls
  readonly failures: Failures
  /** Resources to close when the server stops. */
  readonly opened: AsyncDisposableStack
}

function flagsOf(options: TestServerOptions, directory: string): Flags {
  const { profile = 'kubernetes', emulatedVersion, controlLoops, flags = [] } = options
  const ours = [
    'data-dir',
    'etcd-servers',
    'profile',
    'controllers',
    'ephemeral',
    'scheduler-config',
    'emulated-version',
  ]
  const misplaced = ours.find((name) => flags.some((flag) => flag.split('=')[0] === `--${name}`))
  if (misplaced !== undefined)
    throw new UsageError(`the test server sets --${misplaced} itself: use TestServerOptions instead`)
  return parseFlags({ ...serverFlags, ...upFlags }, [
    ...[`--profile=${profile}`, `--data-dir=${join(directory, 'data')}`, '--admin-kubeconfig=', '--secure-port=0'],
    ...['--bind-address=127.0.0.1', '--shutdown-grace-period=0s', '--ephemeral'],
    ...(flags.some((flag) => flag.startsWith('--nodes=')) ? [] : ['--nodes=0']),
    ...(emulatedVersion === undefined ? [] : [`--emulated-version=${emulatedVersion}`]),
    ...(Array.isArray(controlLoops) ? [`--controllers=${controlLoops.join(',')}`] : []),
    ...flags,
  ])
}

function storedOf(snapshot: Snapshot | undefined, { profile }: Pick<Flags, 'profile'>): StoredSnapshot | undefined {
  if (snapshot !== undefined && snapshot.profile !== profile)
    throw new TypeError(
      `the snapshot has the profile ${snapshot.profile} and cannot be used by a server with the profile ${profile}`,
    )
  return snapshot as StoredSnapshot | undefined
}

async function startServer(options: TestServerOptions, serverContext: TestServerContext): Promise<ApiServer> {
  const { flags, clock, users, store, calls, failures, opened } = serverContext
  const server = await startApiServer(flags, {
    store,
    clock,
    authenticator: users.authenticator,
    log: openLog({ level: flags.verbosity, format: flags.loggingFormat, write: options.log ?? (() => {}) }),
    defaultStorageClass: hasLoops(options) && flags.defaultStorageClass,
    servesMetrics: hasLoops(options),
    hooks: {
      arrived: (exchange) => calls.begin(exchange),
      identified: (exchange) => failures.strike(exchange),
      handled: (exchange) => calls.end(exchange),
    },
  })
  opened.defer(() => server.stop())
  return server
}

function hasLoops({ controlLoops = true }: TestServerOptions): boolean {
  return controlLoops !== false
}

/** Starts the control loops. Resolves when they have reconciled all objects once. */
async function runLoops(
  server: ApiServer,
  { flags, opened }: Pick<TestServerContext, 'flags' | 'opened'>,
): Promise<void> {
  const loops = startOwnControlLoops(server, flags, { inProcessNodes: simulatedNodes })
  opened.defer(() => loops.stop())
  await loops.firstPass
}

/** Delay in milliseconds before the loops start, so that the first requests of a test do not wait for them. */
const loopsLaterMs = 10

/**
 * Starts the loops later, so that the caller does not have to wait for them. Used if the initial state has already been
 * reconciled.
 */
function runLoopsLater(server: ApiServer, { flags, opened }: Pick<TestServerContext, 'flags' | 'opened'>): void {
  const running = new AsyncDisposableStack()
  const timer = setTimeout(() => void runLoops(server, { flags, opened: running }).catch(() => {}), loopsLaterMs)
  opened.defer(() => {
    clearTimeout(timer)
    return running.disposeAsync()
  })
}

const loopUsers = new Set([
  managerUser.name,
  ...controlLoops.flatMap(({ account }) =>
    account === undefined ? [] : [serviceAccountName(systemNamespace, account)],
  ),
])

/** Whether the user is one of the server's own control loops. */
function isOwnUser(name: string): boolean {
  return loopUsers.has(name)
}

interface RunningParts extends TestServerContext {
  readonly server: ApiServer
  /** Snapshot of the state after the start, to which `reset` returns. */
  readonly baseline: StoredSnapshot
}

class RunningTestServer implements TestServer {
  readonly url: string
  readonly clock: TestClock
  readonly calls: Calls
  readonly #options: TestServerOptions
  readonly #parts: RunningParts
  readonly #connections = new Set<HttpTransport>()
  readonly #admin: TestUser
  #closing: Promise<void> | undefined

  constructor(options: TestServerOptions, parts: RunningParts) {
    this.#options = options
    this.#parts = parts
    this.url = parts.server.url
    this.clock = parts.clock
    this.calls = parts.calls
    this.#admin = this.user('admin', { groups: ['system:masters'] })
  }

  get client(): Client {
    return this.#admin.client
  }

  get transport(): Transport {
    return this.#admin.transport
  }

  get kubeconfig() {
    return this.#admin.kubeconfig
  }

  user(name: string, options: UserOptions = {}): TestUser {
    const { users, server, directory } = this.#parts
    const { user, token } = users.add(name, options)
    const { authority } = server
    const transport = this.#options.transport === 'tls' ? this.#connection(token) : server.transport(user)
    const kubeconfig = makeKubeconfig({ server: this.url, authority, user: name, token, directory })
    return { name, token, transport, client: new Client(transport), kubeconfig }
  }

  failOnce(...plan: Parameters<Failures['plan']>) {
    return this.#parts.failures.plan(...plan)
  }

  cutWatches(match: Parameters<TestServer['cutWatches']>[0] = {}): number {
    const watches = this.calls.underWay({ ...match, verb: 'watch' })
    for (const exchange of watches) cutOff(exchange)
    return watches.length
  }

  async snapshot(): Promise<Snapshot> {
    return await takeSnapshot(this.#parts.store, this.#parts.baseline)
  }

  async reset(to?: Snapshot): Promise<void> {
    const { store, flags, baseline, failures } = this.#parts
    await restore(store, storedOf(to, flags) ?? baseline, flags.eventTtl)
    failures.clear()
    this.calls.clear()
  }

  async settled(): Promise<void> {
    await settled(this.#parts.store)
  }

  async fork(options: Parameters<TestServer['fork']>[0] = {}): Promise<TestServer> {
    const startAt = this.clock.now()
    const like = { startAt, ...this.#options, ...options, from: await this.snapshot() }
    return await start(like, this.#parts.users)
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close()
    await this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    for (const connection of this.#connections) connection.close()
    await this.#parts.opened.disposeAsync()
  }

  #connection(token: string): Transport {
    const connection = new HttpTransport({
      server: this.url,
      authority: this.#parts.server.authority,
      token: () => token,
    })
    this.#connections.add(connection)
    return connection.send
  }
}
