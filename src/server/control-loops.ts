/**
 * The control loops of `orch up`: those of the table, each with a client of its own into the server of this process, as
 * the service account that is its identity.
 */
import { systemClock } from '../base/clock.ts'
import { Client } from '../client/client.ts'
import { controlLoops } from '../controllers/all.ts'
import { chooseLoops } from '../controllers/choice.ts'
import { startControlLoops } from '../controllers/manager.ts'
import { serviceAccountGroups, serviceAccountName, type User } from '../model/user.ts'
import { vendorOf } from '../model/vendor.ts'
import type { RunningLoops } from '../reconcile/loop.ts'
import { systemNamespace } from '../upkeep/system-objects.ts'
import type { ApiServer } from './api-server.ts'
import type { ServerOptions, UpOptions } from './flags/options.ts'

export function startOwnControlLoops(server: ApiServer, options: ServerOptions & UpOptions): RunningLoops {
  const vendor = vendorOf(options.profile)
  return startControlLoops(chooseLoops(controlLoops, ['*']), {
    // The user agent names the owner of the fields that are written.
    clientAs: (account) =>
      new Client(server.transport(account === undefined ? manager : serviceAccount(account)), {
        userAgent: vendor.managers.loops ?? account ?? manager.name,
      }),
    ...{ vendor, clock: systemClock, records: server.loopRecords },
    options: {
      quotaSyncMs: options.resourceQuotaSyncPeriod,
      rootAuthority: () => server.authority,
      issueToken: (token) => server.issueLegacyToken(token),
      ...(options.etcdServers.length === 0
        ? { whileStill: (namespace, run) => server.quotaActivity.whileStill(namespace, run) }
        : {}),
    },
  })
}

/** Who follows what happens for all loops: it may see everything, and change little: accounts and their secrets. */
const manager: User = { name: 'system:kube-controller-manager', uid: '', groups: [], extra: new Map() }

function serviceAccount(name: string): User {
  const groups = serviceAccountGroups(systemNamespace)
  return { name: serviceAccountName(systemNamespace, name), uid: '', groups, extra: new Map() }
}
