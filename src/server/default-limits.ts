/**
 * The limits that `orch up` begins with: a container in the namespace `default` that does not say what it needs asks for
 * a tenth of a processor. Where somebody has changed them they stay; `--default-limit-range=false` leaves them out.
 */
import { Client } from '../client/client.ts'
import type { ResourceType } from '../client/resource-type.ts'
import { StatusError } from '../client/status-error.ts'
import type { LimitRange } from '../kinds/core/limit-range.ts'
import type { ApiObject } from '../model/object.ts'
import { superusers } from '../model/user.ts'
import type { ApiServer } from './api-server.ts'

const limitRanges: ResourceType<LimitRange & ApiObject> = {
  group: '',
  version: 'v1',
  plural: 'limitranges',
  namespaced: true,
}

const limits: LimitRange & ApiObject = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'limits', namespace: 'default' },
  spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '100m' } }] },
}

export async function createDefaultLimits(server: Pick<ApiServer, 'transport'>): Promise<void> {
  const user = { name: 'system:apiserver', uid: '', groups: [superusers], extra: new Map() }
  const client = new Client(server.transport(user), { userAgent: 'orch' })
  await client.create(limitRanges, limits).catch((error: unknown) => {
    if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
  })
}
