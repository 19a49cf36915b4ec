/** The flags of `orchctl get`, and what all ways of getting need to know. */
import { flag, type OptionsOf, readBoolean, text, toggle } from '../../../../base/flags/flags.ts'
import { chunkSizeFlag, fileFlags } from '../../arguments/subjects.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { outputFlag, templateFlags } from '../../printers/output.ts'

export const getFlags = {
  ...fileFlags,
  allNamespaces: toggle({ name: 'all-namespaces', letter: 'A', help: 'in all namespaces' }),
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: 'only objects with these labels: a=b,c!=d,e in (f,g),h,!i',
  }),
  fieldSelector: flag({
    name: 'field-selector',
    value: 'SELECTOR',
    read: text,
    help: 'only objects with these fields: metadata.name=a',
  }),
  output: outputFlag,
  ...templateFlags,
  sortBy: flag({
    name: 'sort-by',
    value: 'PATH',
    read: text,
    help: 'in the order of this field: .metadata.creationTimestamp',
  }),
  watch: toggle({ name: 'watch', letter: 'w', help: 'show what there is, and then every change, until Ctrl-C' }),
  watchOnly: toggle({ name: 'watch-only', help: 'show changes alone, until Ctrl-C' }),
  outputWatchEvents: toggle({
    name: 'output-watch-events',
    help: 'with -w: with what happened, ADDED, MODIFIED or DELETED',
  }),
  subresource: flag({
    name: 'subresource',
    value: 'NAME',
    read: text,
    help: 'a part of the named objects: status, scale',
  }),
  count: toggle({ name: 'count', help: 'only how many there are; the server counts where it can' }),
  chunkSize: chunkSizeFlag,
  ignoreNotFound: toggle({ name: 'ignore-not-found', help: 'what is not there is no error' }),
  noHeaders: toggle({ name: 'no-headers', help: 'without the line of headings' }),
  showKind: toggle({ name: 'show-kind', help: 'with the type before each name' }),
  showLabels: toggle({ name: 'show-labels', help: 'with a column of all labels' }),
  labelColumns: flag({
    name: 'label-columns',
    letter: 'L',
    value: 'LABEL,...',
    read: readNames,
    help: 'with a column for each of these labels',
  }),
  serverPrint: flag({
    name: 'server-print',
    default: 'true',
    read: readBoolean,
    help: 'have the server choose the columns of tables; else they are name and age',
  }),
  showManagedFields: toggle({
    name: 'show-managed-fields',
    help: 'in json and yaml, with the record of who owns which field',
  }),
  at: flag({
    name: 'at',
    value: 'REVISION|TIME|AGE',
    read: text,
    help: 'as it was at a resourceVersion, a time, or so long ago (90m)',
  }),
  raw: flag({ name: 'raw', value: 'PATH', read: text, help: 'what the server has at this path, as it is: /version' }),
  ...connectionFlags,
}

export type GetOptions = OptionsOf<typeof getFlags>

/** What all ways of getting need to know. */
export interface Getting extends Session {
  readonly options: GetOptions
}

function readNames(value: string): string[] {
  return value === '' ? [] : value.split(',')
}
