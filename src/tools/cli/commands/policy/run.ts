/**
 * Runs the test cases in PolicyTest documents. If there are no such documents, evaluates the policies for every object
 * in the files. Describes the results.
 */
import { startOfJson } from '../../../../api/codec/json.ts'
import { isObject, type Json, own, sameJson } from '../../../../api/json/json.ts'
import { child, type FieldPath } from '../../../../api/model/field-error.ts'
import { asJson } from '../../../../api/model/object.ts'
import { groupName, profileNames, vendorOf } from '../../../../api/model/vendor.ts'
import { changedFields } from '../../../../apiserver/admission/explanation.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import { type Manifest, placeName } from '../../manifests/manifest.ts'
import type { Context } from '../../program/command.ts'
import { type EvaluationResult, PolicyEvaluator } from './evaluate.ts'
import { isPolicyPart, type OfflineObject, OfflineTypes } from './offline-types.ts'
import { type ExpectedResult, isTestFile, type PolicyCase, readCases, type TestCase } from './test-file.ts'

export interface PolicyReport {
  readonly lines: readonly string[]
  readonly passed: boolean
}

export async function runPolicyTests(
  context: Context,
  manifests: readonly Manifest[],
  namespace: string,
): Promise<PolicyReport> {
  const tests = manifests.filter(isTestFile)
  const objects = manifests.filter((manifest) => !isTestFile(manifest))
  const vendor = vendorOfPolicies(objects)
  const types = new OfflineTypes(vendor, namespace)
  await types.addDefinitions(objects)
  const known: OfflineObject[] = []
  for (const manifest of objects) {
    const object = await types.complete(manifest)
    if (isPolicyPart(vendor, manifest)) await types.check(object, manifest)
    known.push(object)
  }
  const policies = policyKinds.reduce((count, kind) => count + requireBindings(known, kind), 0)
  if (policies === 0) throw new UsageError(noPolicy)
  const evaluator = new PolicyEvaluator(types, known)
  if (tests.length === 0) {
    const others = objects.filter((manifest) => !isPolicyPart(vendor, manifest))
    return await evaluateAll(evaluator, others)
  }
  const cases: TestCase[] = []
  for (const test of tests) cases.push(...(await readCases(context, test)))
  return await runCases(evaluator, cases)
}

/** Returns the profile whose naming scheme the policies use, based on their API group. */
function vendorOfPolicies(manifests: readonly Manifest[]) {
  const vendors = profileNames.map(vendorOf).filter((vendor) => manifests.some((each) => isPolicyPart(vendor, each)))
  const [vendor] = vendors
  if (vendor === undefined) throw new UsageError(noPolicy)
  if (vendors.length > 1)
    throw new UsageError(
      `all policies must use the same API group, but the files contain ${vendors.map((each) => groupName(each, 'admissionregistration')).join(', ')}`,
    )
  return vendor
}

const policyKinds = ['ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy']
const noPolicy = `the files contain no ${policyKinds.join(' or ')}`

/**
 * Rejects a policy without a binding. Such a policy would never take effect, so every test of it would pass. Returns
 * the number of policies.
 */
function requireBindings(objects: readonly OfflineObject[], kind: string): number {
  const specs = (kind: string) => objects.filter(({ type }) => type.kind.kind === kind).map(({ object }) => object)
  const policies = specs(kind)
  const bindings = specs(`${kind}Binding`) as { readonly spec?: { readonly policyName?: string } }[]
  const bound = new Set(bindings.map(({ spec }) => spec?.policyName))
  const unbound = policies.find(({ metadata }) => !bound.has(metadata.name))
  if (unbound !== undefined)
    throw new UsageError(`the files contain no binding for the ${kind} ${unbound.metadata.name}`)
  return policies.length
}

async function evaluateAll(evaluator: PolicyEvaluator, manifests: readonly Manifest[]) {
  const lines: string[] = []
  let denied = 0
  for (const manifest of manifests) {
    const { object, origin } = manifest
    const result = await evaluator.evaluate(createOf(manifest))
    if (result.denial !== undefined) denied++
    const title = `${object.kind} ${object.metadata.name ?? object.metadata.generateName ?? ''} (${placeName(origin)})`
    lines.push(`${title}: ${described(result)}`, ...warningLines(result))
  }
  lines.push(`${manifests.length} evaluated: ${denied} denied`)
  return { lines, passed: denied === 0 }
}

function createOf(object: Manifest): PolicyCase {
  return { operation: 'CREATE', object, oldObject: undefined, user: {}, namespaceLabels: {}, allowedChecks: [] }
}

async function runCases(evaluator: PolicyEvaluator, cases: readonly TestCase[]) {
  const lines: string[] = []
  let failed = 0
  for (const { title, request, expected } of cases) {
    const result = await evaluator.evaluate(request)
    const mismatch = mismatchOf(result, expected)
    if (mismatch !== undefined) failed++
    lines.push(mismatch === undefined ? `ok: ${title}` : `FAILED: ${title}: ${mismatch}`)
  }
  lines.push(`${cases.length} evaluated: ${failed} failed`)
  return { lines, passed: failed === 0 }
}

/** Describes how the result differs from the expected result. Returns undefined if the result is as expected. */
function mismatchOf(result: EvaluationResult, expected: ExpectedResult): string | undefined {
  const { denial, warnings, mutation } = result
  if ((denial === undefined ? 'allow' : 'deny') !== expected.result)
    return `expected ${expected.result}, but the request is ${described(result)}`
  if (denial !== undefined && !denial.includes(expected.message))
    return `expected a message with ${JSON.stringify(expected.message)}, but the request is ${described(result)}`
  const wrongField = mutation && wrongFieldOf(expected.object, asJson(mutation.after), '')
  if (wrongField !== undefined) return `expected another value of ${wrongField}`
  if (expected.warnings === undefined) return undefined
  const areExpected =
    warnings.length === expected.warnings.length && expected.warnings.every((text, i) => warnings[i]!.includes(text))
  return areExpected ? undefined : `expected the warnings ${quoted(expected.warnings)}, but got ${quoted(warnings)}`
}

/** Returns the path of the first field that differs from the expected fields, or undefined. */
function wrongFieldOf(expected: Json | undefined, actual: Json | undefined, path: FieldPath): FieldPath | undefined {
  if (expected === undefined) return undefined
  if (isObject(expected) && isObject(actual)) {
    for (const [name, value] of Object.entries(expected)) {
      const wrongField = wrongFieldOf(value, own(actual, name), child(path, name))
      if (wrongField !== undefined) return wrongField
    }
    return undefined
  }
  const isExpected = expected === null ? actual === undefined : sameJson(expected, actual)
  return isExpected ? undefined : `${path}: it is ${actual === undefined ? 'missing' : startOfJson(actual, maxShown)}`
}

/** Maximum length of a value in test output. */
const maxShown = 200

function described({ denial, mutation }: EvaluationResult): string {
  if (denial !== undefined) return `denied: ${denial}`
  const changes = mutation === undefined ? [] : changedFields(mutation.before, mutation.after)
  return changes.length === 0 ? 'allowed' : `allowed, changes ${changes.join(', ')}`
}

function quoted(texts: readonly string[]): string {
  return JSON.stringify(texts)
}

function warningLines({ warnings }: EvaluationResult): string[] {
  return warnings.map((text) => `  warning: ${text}`)
}
