/** The query parameters of writes: dryRun, fieldManager and fieldValidation. Invalid values result in a 422. */

import type { JsonObject } from '../../../api/json/json.ts'
import { invalidObject } from '../../../api/model/api-error.ts'
import { type FieldError, invalid, notSupported } from '../../../api/model/field-error.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

/** Returns the fieldValidation parameter. Defaults to Warn. `readWriteOptions` has already checked the value. */
export function fieldValidation(query: URLSearchParams): FieldValidation {
  const value = query.get('fieldValidation')
  return value === 'Strict' || value === 'Ignore' ? value : 'Warn'
}

export interface WriteOptions {
  readonly dryRun: boolean
  /** The field manager, or '' if the client sent none. */
  readonly fieldManager: string
}

const noOptions: WriteOptions = { dryRun: false, fieldManager: '' }

const maxManagerLength = 128

export interface OptionsCheck {
  /** The kind of options to name in error messages: CreateOptions, UpdateOptions or PatchOptions. */
  readonly kind: string
  readonly vendor: Vendor
  /** Errors that were found elsewhere, to report together with errors in these options. */
  readonly faults: readonly FieldError[]
}

/** Reads and checks the options of a write. Throws a 422 that lists all errors. */
export function readWriteOptions(query: URLSearchParams, { kind, vendor, faults }: OptionsCheck): WriteOptions {
  if (query.size === 0 && faults.length === 0) return noOptions
  // Deletions ignore fieldManager and fieldValidation.
  const bodyErrors = kind === 'DeleteOptions' ? [] : [...checkManager(query), ...checkValidation(query)]
  const errors = [...faults, ...checkDryRun(query), ...bodyErrors]
  if (errors.length > 0) throw invalidObject({ group: groupName(vendor, 'meta'), kind }, '', errors)
  return { dryRun: asksForDryRun(query), fieldManager: query.get('fieldManager') ?? '' }
}

/** Returns the write options in the query as an object for admission webhooks. */
export function sentWriteOptions(query: URLSearchParams): JsonObject {
  const text = (name: string) => (query.get(name) ? { [name]: query.get(name) } : {})
  return {
    ...(asksForDryRun(query) ? { dryRun: ['All'] } : {}),
    ...text('fieldManager'),
    ...text('fieldValidation'),
  }
}

/**
 * Whether the client requests a dry run. If the parameter has several values, one `All` is sufficient, so that a
 * request intended as a dry run never writes.
 */
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
  // The decoder replaces invalid UTF-8 with U+FFFD, which is not allowed in a field manager name.
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

/** A decoder option. Decoding as a stream drops an incomplete character at the end instead of replacing it. */
const wholeCharacters = { stream: true }

/** Returns the name of the field manager. Defaults to the user agent up to the first slash. */
export function managerName(fieldManager: string, userAgent: string | undefined): string {
  if (fieldManager !== '') return fieldManager
  const agent = (userAgent ?? '').split('/', 1)[0]!
  // Skip the slower Unicode regular expression for plain ASCII, because nearly all user agents are ASCII.
  const printable = /^[ -~]*$/.test(agent) ? agent : agent.replaceAll(/\p{C}/gu, '')
  if (printable === '') return 'unknown'
  return printable.length <= maxManagerLength / 3
    ? printable
    : new TextDecoder().decode(Buffer.from(printable).subarray(0, maxManagerLength), wholeCharacters)
}
