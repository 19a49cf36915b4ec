/** Defines the flags of `orchctl get`, and the session type that its output formats use. */
import { flag, type OptionsOf, readBoolean, text, toggle } from '../../../../base/flags/flags.ts'
import { chunkSizeFlag, fileFlags } from '../../arguments/subjects.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { outputFlag, templateFlags } from '../../printers/output.ts'

export const getFlags = {
  ...fileFlags,
  allNamespaces: toggle({ name: 'all-namespaces', letter: 'A', help: 'list objects in all namespaces' }),
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: "label selector, such as app=web,tier!=cache or 'env in (dev,test)'",
  }),
  fieldSelector: flag({
    name: 'field-selector',
    value: 'SELECTOR',
    read: text,
    help: 'field selector, such as metadata.name=web',
  }),
  output: outputFlag,
  ...templateFlags,
  sortBy: flag({
    name: 'sort-by',
    value: 'PATH',
    read: text,
    help: 'JSONPath of the field to sort by, such as .metadata.creationTimestamp',
  }),
  serverSort: flag({
    name: 'server-sort',
    value: 'FIELD,...',
    read: text,
    help: 'fields by which the server sorts the list, such as spec.nodeName,-metadata.name; a minus sign reverses the order',
  }),
  fields: flag({
    name: 'fields',
    value: 'FIELD,...',
    read: text,
    help: 'with -o: fetch only the given fields of each object, such as metadata.name,spec.containers.image',
  }),
  watch: toggle({ name: 'watch', letter: 'w', help: 'list objects, and then print changes; press Ctrl-C to stop' }),
  watchOnly: toggle({
    name: 'watch-only',
    help: 'print changes without listing the objects first; press Ctrl-C to stop',
  }),
  outputWatchEvents: toggle({
    name: 'output-watch-events',
    help: 'with -w: print the type of each event: ADDED, MODIFIED or DELETED',
  }),
  subresource: flag({
    name: 'subresource',
    value: 'NAME',
    read: text,
    help: 'subresource of the named objects, such as status or scale',
  }),
  count: toggle({ name: 'count', help: 'print only the number of objects, counted by the server if possible' }),
  chunkSize: chunkSizeFlag,
  ignoreNotFound: toggle({ name: 'ignore-not-found', help: 'ignore objects that do not exist' }),
  noHeaders: toggle({ name: 'no-headers', help: 'omit the header line' }),
  showKind: toggle({ name: 'show-kind', help: 'prefix each name with its type' }),
  showLabels: toggle({ name: 'show-labels', help: 'add a column with all labels' }),
  labelColumns: flag({
    name: 'label-columns',
    letter: 'L',
    value: 'LABEL,...',
    read: readNames,
    help: 'add a column for each of the given labels',
  }),
  serverPrint: flag({
    name: 'server-print',
    default: 'true',
    read: readBoolean,
    help: 'let the server choose the table columns; if false, show only name and age',
  }),
  showManagedFields: toggle({
    name: 'show-managed-fields',
    help: 'include managed fields in JSON and YAML output',
  }),
  at: flag({
    name: 'at',
    value: 'REVISION|TIME|AGE',
    read: text,
    help: 'show the past state of the objects at a resourceVersion, a time or an age such as 90m',
  }),
  raw: flag({
    name: 'raw',
    value: 'PATH',
    read: text,
    help: "print the server's raw response to a GET request for the path, such as /version",
  }),
  ...connectionFlags,
}

export type GetOptions = OptionsOf<typeof getFlags>

/** The session of `orchctl get`, with its flags. */
export interface Getting extends Session {
  readonly options: GetOptions
}

function readNames(value: string): string[] {
  return value === '' ? [] : value.split(',')
}
