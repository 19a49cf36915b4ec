/** The flags of `orchctl get`, and what all ways of getting need to know. */
import { flag, type OptionsOf, readBoolean, text, toggle } from '../../../../base/flags/flags.ts'
import { chunkSizeFlag, fileFlags } from '../../arguments/subjects.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { outputFlag, templateFlags } from '../../printers/output.ts'

export const getFlags = {
  ...fileFlags,
  allNamespaces: toggle('A,all-namespaces', 'in all namespaces'),
  selector: flag('l,selector', 'SELECTOR', '', text, 'only objects with these labels: a=b,c!=d,e in (f,g),h,!i'),
  fieldSelector: flag('field-selector', 'SELECTOR', '', text, 'only objects with these fields: metadata.name=a'),
  output: outputFlag,
  ...templateFlags,
  sortBy: flag('sort-by', 'PATH', '', text, 'in the order of this field: .metadata.creationTimestamp'),
  watch: toggle('w,watch', 'show what there is, and then every change, until Ctrl-C'),
  watchOnly: toggle('watch-only', 'show changes alone, until Ctrl-C'),
  outputWatchEvents: toggle('output-watch-events', 'with -w: with what happened, ADDED, MODIFIED or DELETED'),
  subresource: flag('subresource', 'NAME', '', text, 'a part of the named objects: status, scale'),
  count: toggle('count', 'only how many there are; the server counts where it can'),
  chunkSize: chunkSizeFlag,
  ignoreNotFound: toggle('ignore-not-found', 'what is not there is no error'),
  noHeaders: toggle('no-headers', 'without the line of headings'),
  showKind: toggle('show-kind', 'with the type before each name'),
  showLabels: toggle('show-labels', 'with a column of all labels'),
  labelColumns: flag('L,label-columns', 'LABEL,...', '', readNames, 'with a column for each of these labels'),
  serverPrint: flag(
    'server-print',
    '',
    'true',
    readBoolean,
    'have the server choose the columns of tables; else they are name and age',
  ),
  showManagedFields: toggle('show-managed-fields', 'in json and yaml, with the record of who owns which field'),
  at: flag('at', 'REVISION|TIME|AGE', '', text, 'as it was at a resourceVersion, a time, or so long ago (90m)'),
  raw: flag('raw', 'PATH', '', text, 'what the server has at this path, as it is: /version'),
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
