/**
 * What all commands that write have in common: `--dry-run`, `-o`, who is recorded as the manager of the fields, and the
 * line that says what was done: `configmap/a created (server dry run)`.
 */

import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { flag, type OptionsOf, oneOf, text, toggle, UsageError, withBare } from '../../../base/flags/flags.ts'
import type { WriteOptions } from '../../../client/requests/client.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'
import { singularName } from '../connection/find-type.ts'
import type { Session } from '../connection/session.ts'
import { escapeLine } from '../printers/escape.ts'
import { printDocument, withoutManagedFields } from '../printers/objects.ts'
import { templateFlags, writeOutputFlag } from '../printers/output.ts'
import { fillTemplate } from '../printers/templates.ts'

const readDryRunWord = oneOf(['none', 'client', 'server'])

/** Its older form, true or false, is the client's dry run or none. */
function readDryRun(value: string): 'none' | 'client' | 'server' {
  if (value === 'true') return 'client'
  return value === 'false' ? 'none' : readDryRunWord(value)
}

export const writeFlags = {
  output: writeOutputFlag,
  ...templateFlags,
  dryRun: withBare(
    flag({
      name: 'dry-run',
      value: 'none|client|server',
      default: 'none',
      read: readDryRun,
      help: 'client: only print what would be sent; server: have the server check it, and store nothing',
    }),
    'client',
  ),
  fieldManager: flag({
    name: 'field-manager',
    value: 'NAME',
    read: text,
    help: 'who is recorded as the owner of the fields; else orchctl',
  }),
  showManagedFields: toggle({
    name: 'show-managed-fields',
    help: 'in json and yaml, with the record of who owns which field',
  }),
}

export type WritingOptions = OptionsOf<typeof writeFlags>

/** Of these, those that say how an object is shown: for commands that say what they did, and write nothing. */
export const shownFlags = {
  output: writeFlags.output,
  ...templateFlags,
  showManagedFields: writeFlags.showManagedFields,
}

type ReportOptions = OptionsOf<typeof shownFlags> & Partial<Pick<WritingOptions, 'dryRun'>>

/** The options of a request that writes. */
export function requestOptions({ context }: Session, { dryRun, fieldManager }: WritingOptions): WriteOptions {
  return {
    signal: context.signal,
    ...(dryRun === 'server' ? { dryRun: true } : {}),
    ...(fieldManager === '' ? {} : { fieldManager }),
  }
}

export const validateFlag = withBare(
  flag({
    name: 'validate',
    value: 'strict|warn|ignore',
    default: 'strict',
    read: oneOf(['strict', 'warn', 'ignore', 'true', 'false']),
    help: 'what to do about fields that the server does not know: refuse the object, warn, or drop them silently',
  }),
  'strict',
)

/** As the server is asked to see to it. */
export function fieldValidation(
  validate: 'strict' | 'warn' | 'ignore' | 'true' | 'false',
): 'Strict' | 'Warn' | 'Ignore' {
  if (validate === 'warn') return 'Warn'
  return validate === 'strict' || validate === 'true' ? 'Strict' : 'Ignore'
}

/** What `--list` shows has one form. */
export function refuseListedForm({ output }: Pick<ReportOptions, 'output'>): void {
  if (output.form !== '') throw new UsageError('--list and --output may not be specified together')
}

/** What is printed of an object that was written; `index` says how many came before it. */
export async function report(
  options: ReportOptions,
  {
    type,
    object,
    done,
    index = 0,
  }: { type: Pick<DiscoveredType, 'kind' | 'group'>; object: ApiObject; done: string; index?: number },
): Promise<string> {
  const { output, dryRun = 'none' } = options
  const name = `${singularName(type)}/${escapeLine(object.metadata.name ?? '')}`
  if (output.form === 'name') return `${name}\n`
  if (output.form === 'template') return await fillTemplate(output, asJson(object), options)
  const shown = options.showManagedFields ? object : withoutManagedFields(object)
  if (output.form === 'json') return await printDocument(asJson(shown), 'json')
  if (output.form === 'yaml') return `${index > 0 ? '---\n' : ''}${await printDocument(asJson(shown), 'yaml')}`
  return `${name} ${done}${dryRunNote(dryRun)}\n`
}

export function dryRunNote(dryRun: WritingOptions['dryRun']): string {
  if (dryRun === 'none') return ''
  return dryRun === 'client' ? ' (dry run)' : ' (server dry run)'
}
