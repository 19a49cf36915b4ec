/**
 * Control loops of the table against a real server in the test's process: each as its own service account, so that its
 * role must suffice. They can be stopped and started again, as a manager that was killed is.
 */
import { type Clock, systemClock } from '../../src/base/clock.ts'
import { Client } from '../../src/client/client.ts'
import type { Transport } from '../../src/client/transport.ts'
import { controlLoops } from '../../src/controllers/all.ts'
import { chooseLoops } from '../../src/controllers/choice.ts'
import type { LoopOptions } from '../../src/controllers/control-loop.ts'
import { startControlLoops } from '../../src/controllers/manager.ts'
import { allKinds } from '../../src/kinds/all.ts'
import { serviceAccountGroups, serviceAccountName, type User } from '../../src/model/user.ts'
import { type ProfileName, vendorOf } from '../../src/model/vendor.ts'
import type { RunningLoops } from '../../src/reconcile/loop.ts'
import { startInProcess } from './in-process.ts'
import type { Ending } from './server.ts'

const administrator: User = { name: 'admin', uid: '', groups: ['system:masters'], extra: new Map() }
const manager: User = { name: 'system:kube-controller-manager', uid: '', groups: [], extra: new Map() }

export interface LoopsOptions {
  readonly clock?: Clock
  readonly options?: Partial<LoopOptions>
  /** What the loops' requests pass through on their way, such as a fault. */
  readonly through?: (send: Transport) => Transport
}

export interface LoopServer {
  /** As an administrator. */
  readonly client: Client
  readonly directory: string
  /** Starts these loops, as `--controllers` names them. */
  run(names: readonly string[], options?: LoopsOptions): RunningLoops
  /** Ends the loops. */
  end(): Promise<void>
}

export async function loopServer(t: Ending, flags: readonly string[] = []): Promise<LoopServer> {
  const { server, directory, stop } = await startInProcess(allKinds, flags)
  const profile = (flags.find((flag) => flag.startsWith('--profile='))?.slice(10) ?? 'orch') as ProfileName
  let running: RunningLoops | undefined
  const end = async () => {
    await running?.stop()
    running = undefined
  }
  t.after(async () => {
    await end()
    await stop()
  })
  return {
    client: new Client(server.transport(administrator)),
    directory,
    run: (names, { clock = systemClock, options = {}, through = (send: Transport) => send } = {}) => {
      running = startControlLoops(chooseLoops(controlLoops, names), {
        clientAs: (account) =>
          new Client(through(server.transport(account === undefined ? manager : accountOf(account)))),
        ...{ vendor: vendorOf(profile), clock, records: server.loopRecords },
        options: { quotaSyncMs: 60_000, ...options },
      })
      return running
    },
    end,
  }
}

function accountOf(name: string): User {
  const namespace = 'kube-system'
  return {
    name: serviceAccountName(namespace, name),
    uid: '',
    groups: serviceAccountGroups(namespace),
    extra: new Map(),
  }
}
