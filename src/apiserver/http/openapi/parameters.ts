/** Path and query parameters, and the query parameters that each verb accepts. */

export interface Parameter {
  readonly type: 'string' | 'integer' | 'boolean'
  readonly doc: string
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
    doc: 'The version to read. Unset means the most recent version, 0 any version, and other values a version that is not older.',
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
    doc: 'If set to `All`, the request is checked and answered as usual, but nothing is stored.',
  },
  fieldManager: { type: 'string', doc: 'Name of the field manager that owns the changed fields. At most 128 bytes.' },
  fieldValidation: {
    type: 'string',
    doc: 'Handling of unknown and duplicate fields: Strict rejects the request, Warn (the default) warns, Ignore drops them.',
  },
} satisfies { [name: string]: Parameter }

/** Options of the connect subresources of pods, nodes and services. */
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

export const queryParameters = {
  ...connecting,
  ...selectors,
  ...paging,
  ...writing,
  allowWatchBookmarks: {
    type: 'boolean',
    doc: 'Allows a watch to send BOOKMARK events, which contain only a resourceVersion.',
  },
  force: { type: 'boolean', doc: 'Takes over fields that other managers own. Only for apply patches.' },
  gracePeriodSeconds: {
    type: 'integer',
    doc: "Time for the object to terminate, in seconds. 0 deletes it immediately. Defaults to the kind's grace period.",
  },
  pretty: { type: 'string', doc: 'If `true`, the response is indented for readability.' },
  propagationPolicy: {
    type: 'string',
    doc: 'Handling of dependents: Orphan keeps them, Background deletes them after the object, Foreground before it.',
  },
  watch: {
    type: 'boolean',
    doc: 'Watch for changes to the described resources. Returns a stream of events since resourceVersion instead of a list.',
  },
} satisfies { [name: string]: Parameter }

export type QueryName = keyof typeof queryParameters

export const pathParameters = {
  name: { type: 'string', doc: 'Name of the object.' },
  namespace: { type: 'string', doc: 'Namespace of the object.' },
  path: { type: 'string', doc: 'Path of the proxied request.' },
} satisfies { [name: string]: Parameter }

export type PathName = keyof typeof pathParameters

const list: readonly QueryName[] = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'pretty',
  'resourceVersion',
  'resourceVersionMatch',
  'timeoutSeconds',
  'watch',
]

/** The complete list of query parameters that each verb accepts. */
export const queryOf = {
  get: ['pretty'],
  list,
  watch: list,
  create: ['dryRun', 'fieldManager', 'fieldValidation', 'pretty'],
  update: ['dryRun', 'fieldManager', 'fieldValidation', 'pretty'],
  patch: ['dryRun', 'fieldManager', 'fieldValidation', 'force', 'pretty'],
  delete: ['dryRun', 'gracePeriodSeconds', 'pretty', 'propagationPolicy'],
  deletecollection: [
    'continue',
    'dryRun',
    'fieldSelector',
    'gracePeriodSeconds',
    'labelSelector',
    'limit',
    'pretty',
    'propagationPolicy',
    'resourceVersion',
    'resourceVersionMatch',
    'timeoutSeconds',
  ],
} satisfies { [verb: string]: readonly QueryName[] }
