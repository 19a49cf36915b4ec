/**
 * Control loops in the test's own process, with a real server that runs no loops. As in `orch up`, each loop has its
 * own service account. A test can kill a manager at any of its writes. After that, no request from the manager reaches
 * the server. If `answered` is false, the server has executed the write, but the manager does not receive the response.
 */

import { serviceAccountGroups, serviceAccountName, type User } from '../../src/api/model/user.ts'
import { vendorOf } from '../../src/api/model/vendor.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import type { RunningLoops } from '../../src/client/reconcile/loop.ts'
import { Client } from '../../src/client/requests/client.ts'
import { type Transport, TransportError } from '../../src/client/requests/transport.ts'
import { controlLoops } from '../../src/cluster/controllers/all.ts'
import type { LoopOptions } from '../../src/cluster/controllers/control-loop.ts'
import { type ManagerParts, startControlLoops } from '../../src/cluster/controllers/manager.ts'
import { selectLoops } from '../../src/cluster/controllers/select-loops.ts'
import { startInProcess } from './in-process.ts'
import type { Ending } from './server.ts'

export interface Death {
  /** Number of writes that reach the server before the manager is killed. */
  readonly writes: number
  /** Whether the manager receives the response to the last write. */
  readonly answered: boolean
}

export interface ManagerOptions extends Partial<Pick<ManagerParts, 'clock'>> {
  readonly options?: Partial<LoopOptions>
  readonly death?: Death
  /** Changes the server's responses, to simulate another version. */
  readonly alter?: (text: string) => string
  /** Wraps the transport of the loops, for example to inject a fault. */
  readonly through?: (send: Transport) => Transport
}

export interface Manager extends RunningLoops {
  /** Resolves when the manager has sent the write at which it is killed. */
  readonly killed: Promise<void>
}

const noUid = { uid: '', extra: new Map() }
const ofManager: User = { name: 'system:kube-controller-manager', groups: [], ...noUid }
const admin: User = { name: 'admin', groups: ['system:masters'], ...noUid }

export async function openLoopServer(t: Ending, flags: readonly string[] = []) {
  const { server, stop, directory } = await startInProcess(undefined, flags)
  const managers = new Set<Manager>()
  t.after(async () => {
    for (const manager of managers) await manager.stop()
    await stop()
  })
  const vendor = vendorOf(flags.includes('--profile=kubernetes') ? 'kubernetes' : 'orch')
  const start = (
    names: readonly string[],
    { options, death, alter, through = (send) => send, clock = systemClock }: ManagerOptions = {},
  ): Manager => {
    const killed = Promise.withResolvers<void>()
    const whole = death === undefined ? (transport: Transport) => transport : dyingLine(death, killed.resolve)
    const line = (transport: Transport) => whole(alter === undefined ? transport : alteringLine(transport, alter))
    const running = startControlLoops(selectLoops(controlLoops, names), {
      clientAs: (account) =>
        new Client(line(through(server.transport(account === undefined ? ofManager : accountOf(account)))), {
          userAgent: account ?? 'manager',
        }),
      vendor,
      emulation: server.emulation,
      clock,
      records: server.loopRecords,
      options: { quotaSyncMs: 60_000, ...options },
    })
    const manager = { ...running, killed: killed.promise }
    managers.add(manager)
    return manager
  }
  const as = (name: string, groups: readonly string[] = [], extra: User['extra'] = new Map()) =>
    new Client(server.transport({ name, groups: [...groups], ...noUid, extra }))
  return { server, vendor, directory, start, client: new Client(server.transport(admin)), as }
}

export interface LoopServer {
  /** A client that acts as an administrator. */
  readonly client: Client
  readonly directory: string
  /** Starts the given loops. The names are the same as in `--controllers`. */
  run(names: readonly string[], options?: ManagerOptions): Manager
  /** Stops the loops that were started last. */
  end(): Promise<void>
}

/** Starts a server for one manager at a time. The manager can be stopped and restarted. */
export async function loopServer(t: Ending, flags: readonly string[] = []): Promise<LoopServer> {
  const { client, directory, start } = await openLoopServer(t, flags)
  let running: Manager | undefined
  return {
    client,
    directory,
    run: (names, options) => {
      running = start(names, options)
      return running
    },
    end: async () => {
      await running?.stop()
      running = undefined
    },
  }
}

function accountOf(account: string): User {
  return { name: serviceAccountName('kube-system', account), groups: serviceAccountGroups('kube-system'), ...noUid }
}

/** Returns the transport that all clients of a manager use. The transport fails once the manager is killed. */
function dyingLine({ writes, answered }: Death, onKilled: () => void): (transport: Transport) => Transport {
  let remaining = writes
  const dead = () => new TransportError('the manager was killed')
  return (transport) => async (request) => {
    const isWrite = request.method !== 'GET' && !request.path.includes('reviews')
    if (remaining < 0 || (isWrite && --remaining < 0)) {
      remaining = -1
      onKilled()
      throw dead()
    }
    const answer = await transport(request)
    if (!isWrite || remaining > 0 || answered) return answer
    remaining = -1
    onKilled()
    for await (const _ of answer.body);
    throw dead()
  }
}

/**
 * Returns a transport that changes responses. It does not join chunks, because the in-process server always sends whole
 * events and lists.
 */
function alteringLine(transport: Transport, alter: (text: string) => string): Transport {
  return async (request) => {
    const answer = await transport(request)
    const { body } = answer
    const altered = async function* () {
      for await (const chunk of body) yield Buffer.from(alter(Buffer.from(chunk).toString()))
    }
    return { ...answer, body: altered() }
  }
}

/** Returns every way of killing a manager that makes the given number of writes. */
export function deaths(writes: number): Death[] {
  return Array.from({ length: writes }, (_, i) => [
    { writes: i, answered: true },
    { writes: i + 1, answered: false },
  ]).flat()
}
