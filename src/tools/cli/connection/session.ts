/**
 * The session of a command. It combines the command's context, its connection, its default namespace and the types that
 * the server serves.
 */

import type { ApiObject } from '../../../api/model/object.ts'
import type { OptionsOf } from '../../../base/flags/flags.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'
import type { ObjectName, ResourceType } from '../../../client/requests/resource-type.ts'
import type { Context } from '../program/command.ts'
import { type Connection, withConnection } from './connect.ts'
import type { connectionFlags } from './connection-flags.ts'
import { withMissingNamespace } from './missing-namespace.ts'
import { ServedTypes } from './served-types.ts'

export interface Session extends Connection {
  readonly context: Context
  readonly types: ServedTypes
  /** Whether the user specified the namespace on the command line. */
  readonly namespaceGiven: boolean
}

/** Opens a session, calls `use`, and then closes the session. */
export async function withSession<T>(
  context: Context,
  options: OptionsOf<typeof connectionFlags>,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  return await withConnection(context, options, async (connection) => {
    const types = new ServedTypes(connection.client, context.signal)
    try {
      return await use({ ...connection, context, types, namespaceGiven: options.namespace !== '' })
    } catch (error) {
      throw await withMissingNamespace(connection.client, error, context.signal)
    }
  })
}

/** Returns the name of an object in the session's namespace, or without a namespace for cluster-scoped types. */
export function objectNameIn(
  { namespace }: { readonly namespace: string },
  { namespaced }: ResourceType,
  name: string,
): ObjectName {
  return namespaced ? { namespace, name } : { name }
}

/** Returns the namespace and name of an object. Cluster-scoped objects have no namespace. */
export function objectNameOf({ namespaced }: DiscoveredType, { metadata }: ApiObject): ObjectName {
  const name = metadata.name ?? ''
  return namespaced ? { namespace: metadata.namespace ?? '', name } : { name }
}
