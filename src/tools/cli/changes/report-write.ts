/**
 * Flags and output of commands that write objects: `--dry-run`, `-o`, the field manager, and report lines such as
 * `configmap/a created (server dry run)`.
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

/** Parses `--dry-run`. Also accepts the old values true and false, which mean client and none. */
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
      help: 'dry run: client prints the object without sending a request, server processes the request without storing the object',
    }),
    'client',
  ),
  fieldManager: flag({
    name: 'field-manager',
    value: 'NAME',
    read: text,
    help: 'name of the field manager; default: orchctl',
  }),
  showManagedFields: toggle({
    name: 'show-managed-fields',
    help: 'include managed fields in JSON and YAML output',
  }),
}

export type WritingOptions = OptionsOf<typeof writeFlags>

/** Output flags for commands that print objects but do not write them. */
export const shownFlags = {
  output: writeFlags.output,
  ...templateFlags,
  showManagedFields: writeFlags.showManagedFields,
}

type ReportOptions = OptionsOf<typeof shownFlags> & Partial<Pick<WritingOptions, 'dryRun'>>

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
    help: 'how to handle unknown fields: strict rejects the object, warn drops the fields with a warning, ignore drops them silently',
  }),
  'strict',
)

/** Converts the flag to the fieldValidation parameter. */
export function fieldValidation(
  validate: 'strict' | 'warn' | 'ignore' | 'true' | 'false',
): 'Strict' | 'Warn' | 'Ignore' {
  if (validate === 'warn') return 'Warn'
  return validate === 'strict' || validate === 'true' ? 'Strict' : 'Ignore'
}

/** Rejects `-o` with `--list`, because `--list` has a fixed output format. */
export function refuseListedForm({ output }: Pick<ReportOptions, 'output'>): void {
  if (output.form !== '') throw new UsageError('--list and --output may not be specified together')
}

/** Returns the text to print for a written object. `index` is its position in the output. */
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
  const printedObject = options.showManagedFields ? object : withoutManagedFields(object)
  if (output.form === 'json') return await printDocument(asJson(printedObject), 'json')
  if (output.form === 'yaml') return `${index > 0 ? '---\n' : ''}${await printDocument(asJson(printedObject), 'yaml')}`
  return `${name} ${done}${dryRunNote(dryRun)}\n`
}

export function dryRunNote(dryRun: WritingOptions['dryRun']): string {
  if (dryRun === 'none') return ''
  return dryRun === 'client' ? ' (dry run)' : ' (server dry run)'
}
