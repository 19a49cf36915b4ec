/** Size limits and name validation for all kinds of dynamic resource allocation. */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  required,
  tooLong,
  tooMany,
} from '../../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain, type NameCheck } from '../../../model/names.ts'
import { isSince, type RuleContext } from '../../../schema/context.ts'
import { repeatedAt } from '../../core/types/repeated.ts'

/** Maximum number of elements in lists of requests, constraints, selectors and similar objects. */
export const maxElements = 32
/** Maximum size of an expression and of opaque parameters. */
export const maxTextBytes = 10 * 1024

interface ListRules<T> {
  readonly max?: number
  /** Returns a key for an element. No two elements in the list may have the same key. */
  readonly key?: (item: T) => string
  /** Name of the key's field, where duplicates are reported. If undefined, they are reported for the element itself. */
  readonly keyField?: string | undefined
  readonly check?: (item: T, path: FieldPath) => readonly FieldError[]
}

/** Validates the number of elements and each element, and rejects duplicate keys. */
export function checkList<T>(items: readonly T[] = [], path: FieldPath, rules: ListRules<T>): FieldError[] {
  const { max = maxElements, key, keyField, check } = rules
  if (items.length > max) return [tooMany(path, items.length, max)]
  const keys = key === undefined ? [] : items.map(key)
  const repeated = repeatedAt(keys)
  return items.flatMap((item, i) => [
    ...(check?.(item, at(path, i)) ?? []),
    ...(repeated.has(i)
      ? [duplicate(keyField === undefined ? at(path, i) : child(at(path, i), keyField), keys[i])]
      : []),
  ])
}

/** Returns the path at which to report a duplicate key: the key field before 1.36, and the whole element since 1.36. */
export function keyFieldOf(name: string, context: RuleContext): string | undefined {
  return isSince('1.36', context) ? undefined : name
}

/** Validates the format of a name. */
export function checkName(name: string, path: FieldPath, check: NameCheck = checkDnsLabel): FieldError[] {
  return check(name).map((fault) => invalid(path, name, fault))
}

/** Requires a name and validates its format. */
export function checkRequired(name: string, path: FieldPath, check: NameCheck): FieldError[] {
  return name === '' ? [required(path)] : checkName(name, path, check)
}

const maxPoolLength = 253

/** Validates a pool name, which consists of subdomains separated by slashes. */
export function checkPoolName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return [required(path)]
  if (name.length > maxPoolLength) return [tooLong(path, maxPoolLength)]
  return name.split('/').flatMap((part) => checkName(part, path, checkDnsSubdomain))
}

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/
const maxIdLength = 32
const maxDomainLength = 63

/** Returns the error for an empty part of a name. Since 1.36, the part is reported as invalid rather than missing. */
function emptyPart(path: FieldPath, text: string, context: RuleContext): FieldError[] {
  return [isSince('1.36', context) ? invalid(path, '', text) : required(path, text)]
}

function checkId(id: string, path: FieldPath, context: RuleContext): FieldError[] {
  if (id === '') return emptyPart(path, 'the name must not be empty', context)
  return [
    ...(id.length > maxIdLength ? [tooLong(path, maxIdLength)] : []),
    ...(identifier.test(id.slice(0, maxTextBytes))
      ? []
      : [invalid(path, id, 'must be a C identifier: letters, digits and `_`, not starting with a digit')]),
  ]
}

function checkDomain(domain: string, path: FieldPath, context: RuleContext): FieldError[] {
  if (domain === '') return emptyPart(path, 'the domain must not be empty', context)
  return [
    ...(domain.length > maxDomainLength ? [tooLong(path, maxDomainLength)] : []),
    ...checkName(domain, path, checkDnsSubdomain),
  ]
}

/**
 * Checks the name of an attribute or capacity: an identifier with an optional domain. Like Kubernetes, accepts names
 * with more than one slash.
 */
export function checkAttributeName(name: string, path: FieldPath, context: RuleContext): FieldError[] {
  const [first = '', second, ...others] = name.split('/')
  if (others.length > 0) return []
  if (second === undefined) return checkId(first, path, context)
  return [...checkDomain(first, path, context), ...checkId(second, path, context)]
}

/** Validates the name of an attribute. It must have a domain. */
export function checkFullName(name: string, path: FieldPath, context: RuleContext): FieldError[] {
  if (name.includes('/')) return checkAttributeName(name, path, context)
  if (name === '') return emptyPart(path, 'a domain and a name are required', context)
  return [invalid(path, name, 'must be a domain and a name, separated by a slash')]
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Validates the ID of a device share. */
export function checkShareId(id: string | undefined, path: FieldPath): FieldError[] {
  return id === undefined || uuid.test(id) ? [] : [invalid(child(path, 'shareID'), id, 'must be a UUID in lower case')]
}
