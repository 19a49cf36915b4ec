/** The query parameters of writes: dryRun, fieldManager, fieldValidation. Wrong values are 422, as for any options. */

import type { JsonObject } from '../../../api/json/json.ts'
import { invalidObject } from '../../../api/model/api-error.ts'
import { type FieldError, invalid, notSupported } from '../../../api/model/field-error.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

/** Unset is Warn. Checked by `readWriteOptions` before. */
export function fieldValidation(query: URLSearchParams): FieldValidation {
  const value = query.get('fieldValidation')
  return value === 'Strict' || value === 'Ignore' ? value : 'Warn'
}

export interface WriteOptions {
  readonly dryRun: boolean
  /** '' when not sent. */
  readonly fieldManager: string
}

const noOptions: WriteOptions = { dryRun: false, fieldManager: '' }

const maxManagerLength = 128

export interface OptionsCheck {
  /** The kind of options that errors name: CreateOptions, UpdateOptions, PatchOptions. */
  readonly kind: string
  readonly vendor: Vendor
  /** What else is wrong with the options. */
  readonly faults: readonly FieldError[]
}

/** Reads and checks the options of a write. Throws 422 with all faults at once. */
export function readWriteOptions(query: URLSearchParams, { kind, vendor, faults }: OptionsCheck): WriteOptions {
  if (query.size === 0 && faults.length === 0) return noOptions
  const errors = [...faults, ...checkDryRun(query), ...checkManager(query), ...checkValidation(query)]
  if (errors.length > 0) throw invalidObject({ group: groupName(vendor, 'meta'), kind }, '', errors)
  return { dryRun: asksForDryRun(query), fieldManager: query.get('fieldManager') ?? '' }
}

/** The options as they were sent, for admission webhooks. */
export function sentWriteOptions(query: URLSearchParams): JsonObject {
  const text = (name: string) => (query.get(name) ? { [name]: query.get(name) } : {})
  return {
    ...(asksForDryRun(query) ? { dryRun: ['All'] } : {}),
    ...text('fieldManager'),
    ...text('fieldValidation'),
  }
}

/** In whichever place it is said: what was meant to be tried only is never done. */
function asksForDryRun(query: URLSearchParams): boolean {
  return query.getAll('dryRun').includes('All')
}

function checkDryRun(query: URLSearchParams): FieldError[] {
  const values = query.getAll('dryRun').filter((value) => value !== '')
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])]
}

function checkManager(query: URLSearchParams): FieldError[] {
  const name = query.get('fieldManager') ?? ''
  if (Buffer.byteLength(name) > maxManagerLength)
    return [
      {
        fault: 'FieldValueTooLong',
        path: 'fieldManager',
        text: `Too long: must have at most ${maxManagerLength} bytes`,
      },
    ]
  // U+FFFD stands for bytes that are not UTF-8: no manager has such a name.
  return /^[\P{C}]*$/u.test(name) && !name.includes('\ufffd')
    ? []
    : [invalid('fieldManager', name, 'should only contain printable characters')]
}

function checkValidation(query: URLSearchParams): FieldError[] {
  const value = query.get('fieldValidation') ?? ''
  return ['', 'Strict', 'Warn', 'Ignore'].includes(value)
    ? []
    : [notSupported('fieldValidation', value, ['', 'Ignore', 'Warn', 'Strict'])]
}

/** A character that is cut in two is left out. */
const wholeCharacters = { stream: true }

/** The manager of a write that names none: the first word of the user agent. */
export function managerName(fieldManager: string, userAgent: string | undefined): string {
  if (fieldManager !== '') return fieldManager
  const agent = (userAgent ?? '').split('/', 1)[0]!
  // Nearly all names are plain ASCII, for which the general rule would be needlessly expensive.
  const printable = /^[ -~]*$/.test(agent) ? agent : agent.replaceAll(/\p{C}/gu, '')
  if (printable === '') return 'unknown'
  return printable.length <= maxManagerLength / 3
    ? printable
    : new TextDecoder().decode(Buffer.from(printable).subarray(0, maxManagerLength), wholeCharacters)
}
