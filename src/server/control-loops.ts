/**
 * The control loops of `orch up`: each with a client of its own into the server of this process, as the service
 * account that is its identity. Here they are joined with what they need; what they do is in `controllers/`.
 */
import { systemClock } from '../base/clock.ts'
import { Client } from '../client/client.ts'
import { Informer } from '../client/informer.ts'
import { type RunningLoops, startLoops } from '../controllers/loop.ts'
import { namespaceLoop, namespaces } from '../controllers/namespace.ts'
import { superusers, type User } from '../model/user.ts'
import { vendorOf } from '../model/vendor.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import type { ApiServer } from './api-server.ts'
import type { ServerOptions } from './options.ts'

export function startControlLoops(server: ApiServer, { profile }: ServerOptions, log: Log): RunningLoops {
  const client = clientOf(server, 'namespace-controller')
  const informer = new Informer(client, namespaces, {
    onError: (error) =>
      log.error('an informer lost its watch; it is resumed', { type: 'namespaces', ...errorFields(error) }),
  })
  return startLoops(
    [
      namespaceLoop({
        client,
        informer,
        finalizer: vendorOf(profile).namespaceFinalizer,
        clock: systemClock,
      }),
    ],
    { log, metrics: server.workQueues },
  )
}

function clientOf(server: ApiServer, name: string): Client {
  return new Client(server.transport(serviceAccount(name)), { userAgent: name })
}

/** Until there are roles (RBAC) that give each loop what it needs and no more, the loops may do everything. */
function serviceAccount(name: string): User {
  return {
    name: `system:serviceaccount:kube-system:${name}`,
    uid: '',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', superusers],
    extra: new Map(),
  }
}
