/** Path and query parameters, and the query parameters that each verb accepts. */

import { type Availability, exists } from '../../../api/versions/availability.ts'
import type { EmulatedVersion } from '../../../api/versions/emulated-version.ts'

export interface Parameter extends Availability {
  readonly type: 'string' | 'integer' | 'boolean'
  readonly doc: string
  /** Whether the parameter is an extension that Kubernetes does not have. */
  readonly isExtension?: boolean
}

const selectors = {
  fieldSelector: {
    type: 'string',
    doc: 'Restricts the list of returned objects by their fields, such as `metadata.name=a,status.phase!=b`. Each kind supports only certain fields.',
  },
  labelSelector: {
    type: 'string',
    doc: 'Restricts the list of returned objects by their labels, such as `a=b,c!=d,e in (f,g),h,!i`.',
  },
} satisfies { [name: string]: Parameter }

const paging = {
  continue: {
    type: 'string',
    doc: 'The `continue` token from the previous page. Returns the next page of the same list.',
  },
  limit: {
    type: 'integer',
    doc: 'Maximum number of objects to return. The remaining objects are available with `continue`.',
  },
  resourceVersion: {
    type: 'string',
    doc: 'Resource version of the returned data: the most recent version if unset, any version if 0, and otherwise a version that is not older than the given one.',
  },
  resourceVersionMatch: {
    type: 'string',
    doc: 'How to apply resourceVersion: Exact or NotOlderThan.',
  },
  timeoutSeconds: { type: 'integer', doc: 'Timeout for the call in seconds, regardless of activity.' },
} satisfies { [name: string]: Parameter }

const writing = {
  dryRun: {
    type: 'string',
    doc: 'If set to `All`, the server processes the request as usual but does not store the result.',
  },
  fieldManager: { type: 'string', doc: 'Name of the field manager that owns the changed fields. At most 128 bytes.' },
  fieldValidation: {
    type: 'string',
    doc: 'Handling of unknown and duplicate fields: Strict rejects the request, Warn (the default) returns warnings, and Ignore drops the fields.',
  },
} satisfies { [name: string]: Parameter }

/** Query parameters of subresources, such as `exec` and `proxy`, that open a connection. */
const connecting = {
  command: { type: 'string', doc: 'The command to run. Repeat the parameter for each argument.' },
  container: { type: 'string', doc: 'Name of the container, if the pod has more than one.' },
  path: { type: 'string', doc: 'Path of the proxied request.' },
  ports: { type: 'integer', doc: 'Ports to forward.' },
  stderr: { type: 'boolean', doc: 'Whether to return standard error.' },
  stdin: { type: 'boolean', doc: 'Whether to send standard input.' },
  stdout: { type: 'boolean', doc: 'Whether to return standard output.' },
  tty: { type: 'boolean', doc: 'Whether to allocate a terminal.' },
} satisfies { [name: string]: Parameter }

const allQueryParameters = {
  ...connecting,
  ...selectors,
  ...paging,
  ...writing,
  allowWatchBookmarks: {
    type: 'boolean',
    doc: 'Allows a watch to send BOOKMARK events, which contain only a resourceVersion.',
  },
  count: {
    type: 'boolean',
    isExtension: true,
    doc: 'Whether metadata.remainingItemCount must be exact. Without a limit, the response contains only this number and no objects.',
  },
  fields: {
    type: 'string',
    isExtension: true,
    doc: 'Fields to return for each object, such as `metadata.name,spec.containers.image`. Supported only for JSON and YAML.',
  },
  force: {
    type: 'boolean',
    doc: 'Whether to take over fields that other managers own. Supported only for apply patches.',
  },
  gracePeriodSeconds: {
    type: 'integer',
    doc: "Grace period in seconds before the object is deleted. The value 0 deletes the object immediately. Defaults to the kind's grace period.",
  },
  ignoreStoreReadErrorWithClusterBreakingPotential: {
    type: 'boolean',
    since: '1.32',
    doc: 'Whether to delete an object that cannot be read from the store. Not supported.',
  },
  orphanDependents: {
    type: 'boolean',
    since: '1.24',
    doc: 'Whether to keep dependents. Deprecated: use propagationPolicy instead.',
  },
  pretty: { type: 'string', doc: 'If `true`, the response is indented for readability.' },
  propagationPolicy: {
    type: 'string',
    doc: 'Handling of dependents: Orphan keeps the dependents, Background deletes them after the object, and Foreground deletes them before the object.',
  },
  sendInitialEvents: {
    type: 'boolean',
    since: '1.27',
    doc: 'Whether a watch begins with the existing objects, followed by a bookmark.',
  },
  shardSelector: {
    type: 'string',
    since: '1.36',
    doc: 'Restricts the list to one shard of the objects. Requires a feature gate that is off by default.',
  },
  sort: {
    type: 'string',
    isExtension: true,
    doc: 'Fields by which the list is sorted, such as `-status.startTime,metadata.name`; a minus sign reverses the order.',
  },
  watch: {
    type: 'boolean',
    doc: 'Watch for changes to the described resources. Returns a stream of events since resourceVersion instead of a list.',
  },
} satisfies { [name: string]: Parameter }

export type QueryName = keyof typeof allQueryParameters

export const queryParameters: { readonly [N in QueryName]: Parameter } = allQueryParameters

/** The settings that determine which query parameters a server supports. */
export interface QueryOptions {
  readonly emulated: EmulatedVersion
  /** Whether lists support query parameters that Kubernetes does not have (`--extensions`). */
  readonly extensions: boolean
}

/** Returns the query parameters that the server supports. */
export function queryIn({ emulated, extensions }: QueryOptions, names: readonly QueryName[]): readonly QueryName[] {
  return names.filter((name) => {
    const parameter = queryParameters[name]
    return exists(parameter, emulated) && (extensions || !parameter.isExtension)
  })
}

export const pathParameters = {
  name: { type: 'string', doc: 'Name of the object.' },
  namespace: { type: 'string', doc: 'Namespace of the object.' },
  path: { type: 'string', doc: 'Path of the proxied request.' },
} satisfies { [name: string]: Parameter }

export type PathName = keyof typeof pathParameters

const watch: readonly QueryName[] = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'pretty',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'shardSelector',
  'timeoutSeconds',
  'watch',
]

const extensions: readonly QueryName[] = ['count', 'fields', 'sort']

/** The query parameters of each verb, including parameters that this server may not support. */
export const queryOf = {
  get: ['pretty'],
  list: [...watch, ...extensions].sort(),
  watch,
  create: ['dryRun', 'fieldManager', 'fieldValidation', 'pretty'],
  update: ['dryRun', 'fieldManager', 'fieldValidation', 'pretty'],
  patch: ['dryRun', 'fieldManager', 'fieldValidation', 'force', 'pretty'],
  delete: [
    'dryRun',
    'gracePeriodSeconds',
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'orphanDependents',
    'pretty',
    'propagationPolicy',
  ],
  deletecollection: [
    'continue',
    'dryRun',
    'fieldSelector',
    'gracePeriodSeconds',
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'labelSelector',
    'limit',
    'orphanDependents',
    'pretty',
    'propagationPolicy',
    'resourceVersion',
    'resourceVersionMatch',
    'sendInitialEvents',
    'shardSelector',
    'timeoutSeconds',
  ],
} satisfies { [verb: string]: readonly QueryName[] }
