/**
 * Lists the groups of `src/` and the folders of each group, such as `apiserver/http`, from the bottom up. Also lists
 * restrictions on individual folders. In the code, such a folder is called a room. `check-layers.ts` checks imports
 * against this file, and ARCHITECTURE.md describes the groups and folders.
 */

interface Group {
  readonly name: string
  /** Folders from the bottom up. Folders of one layer do not import each other. If empty, the group has no folders. */
  readonly layers: readonly (readonly string[])[]
}

/** A group may import only earlier groups. A folder may also import lower folders in its own group. */
export const groups: readonly Group[] = [
  {
    name: 'base',
    layers: [
      ['text', 'time', 'concurrency', 'limits'],
      ['collections', 'files', 'flags', 'telemetry'],
    ],
  },
  { name: 'wire', layers: [['http', 'http2', 'protobuf', 'websocket'], ['streaming']] },
  {
    name: 'api',
    layers: [
      ['json'],
      ['model', 'versions'],
      ['selectors', 'schema', 'pki', 'cel', 'gotemplate', 'jsonpath'],
      ['kinds', 'codec'],
      ['merge'],
    ],
  },
  { name: 'storage', layers: [['store'], ['encryption', 'cache']] },
  { name: 'client', layers: [['requests'], ['informers', 'node'], ['reconcile'], ['library']] },
  { name: 'cluster', layers: [['volumes', 'node-port', 'failures'], ['scheduler'], ['controllers', 'nodes']] },
  {
    name: 'apiserver',
    layers: [
      ['outbound', 'authn', 'authz', 'audit', 'flowcontrol'],
      ['transport', 'admission'],
      ['registry'],
      ['resources', 'custom', 'http', 'upkeep', 'backup'],
      ['aggregation', 'file-metrics'],
    ],
  },
  { name: 'tools', layers: [['cli', 'joining', 'console']] },
  {
    name: 'server',
    layers: [
      ['flags'],
      ['threads', 'admission'],
      ['certificates'],
      ['identity'],
      ['telemetry'],
      ['store'],
      ['backup'],
      ['assembly'],
      ['simulation', 'manager'],
      ['cluster', 'node-agent'],
      ['workers'],
      ['program'],
    ],
  },
  { name: 'testing', layers: [] },
]

const values = ['api/json', 'api/model', 'api/versions', 'api/selectors']

/**
 * Folders that may import less than their layer allows: only the listed groups and folders, `base`, and files in the
 * same folder.
 */
export const only: { readonly [room: string]: readonly string[] } = {
  'storage/store': ['wire'],
  'client/requests': values,
  'client/informers': [...values, 'client/requests'],
  'client/node': ['wire', ...values, 'client/requests'],
  'client/reconcile': [...values, 'client/requests', 'client/informers'],
  'client/library': [...values, 'api/schema', 'api/kinds', 'api/codec', 'client'],
  'cluster/volumes': values,
  'cluster/failures': values,
  'cluster/node-port': ['wire', ...values, 'api/pki', 'client'],
  'cluster/scheduler': [...values, 'api/cel', 'client', 'cluster/volumes'],
  'cluster/controllers': [
    ...values,
    'api/pki',
    'api/cel',
    'client',
    'cluster/volumes',
    'cluster/scheduler',
    'cluster/failures',
  ],
  'cluster/nodes': [
    'wire',
    ...values,
    'api/cel',
    'api/gotemplate',
    'api/codec',
    'client',
    'cluster/node-port',
    'cluster/scheduler',
    'cluster/failures',
  ],
  'apiserver/outbound': ['wire', ...values],
}

/** Additional folders that are allowed for type-only imports, which add nothing to a bundle. */
export const onlyTypes: { readonly [room: string]: readonly string[] } = {
  'client/requests': ['api/kinds'],
  'client/informers': ['api/kinds'],
  'cluster/volumes': ['api/kinds'],
  'cluster/failures': ['api/kinds'],
  'cluster/scheduler': ['api/kinds'],
  'cluster/controllers': ['api/kinds'],
  'cluster/nodes': ['api/kinds'],
}

/** Folders whose code also runs in browsers. They import neither Node modules nor packages. */
export const browserRooms: readonly string[] = ['client/requests', 'client/informers']

/** The console page runs only in a browser. It is a separate program that no other file imports. */
export const page = 'tools/console/page/'

/** Groups and folders that may import the store. Only they may interpret stored bytes. */
export const storeReaders: readonly string[] = [
  'storage',
  'apiserver/registry',
  'apiserver/http',
  'apiserver/upkeep',
  'apiserver/backup',
  'server',
  'testing',
]

/** Packages, each with the only folder that may import it. */
export const drivers: { readonly [name: string]: string } = {
  lmdb: 'storage/store/lmdb',
  jose: 'apiserver/authn',
  '@noble/ciphers': 'storage/encryption',
  ws: 'wire/websocket',
}

/** Returns the group and folder, such as `apiserver/http`, of a file. The path of the file is relative to `src/`. */
export function roomOf(file: string): string {
  const [group = '', folder = ''] = file.split('/')
  return groups.some(({ name, layers }) => name === group && layers.length === 0) ? group : `${group}/${folder}`
}

/** Whether the list contains the folder or its group. */
export function isAmong(room: string, names: readonly string[]): boolean {
  return names.includes(room) || names.includes(room.split('/')[0]!)
}
