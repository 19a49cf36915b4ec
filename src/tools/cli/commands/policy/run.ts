/** Runs the cases of PolicyTest documents, or evaluates every object, and describes the results. */
import { groupName, profileNames, vendorOf } from '../../../../api/model/vendor.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import { type Manifest, placeName } from '../../manifests/manifest.ts'
import type { Context } from '../../program/command.ts'
import { type EvaluationResult, PolicyEvaluator } from './evaluate.ts'
import { isPolicyPart, type OfflineObject, OfflineTypes } from './offline-types.ts'
import { type ExpectedResult, isTestFile, type PolicyCase, readCases, type TestCase } from './test-file.ts'

export interface PolicyReport {
  readonly lines: readonly string[]
  /** Remarks about the files, for the user. */
  readonly notes: readonly string[]
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
  requireBindings(known)
  const isMutating = objects.some(({ object }) => object.kind === 'MutatingAdmissionPolicy')
  const notes = isMutating ? ['Note: MutatingAdmissionPolicies are not evaluated.'] : []
  const evaluator = new PolicyEvaluator(types, known)
  if (tests.length === 0) {
    const others = objects.filter((manifest) => !isPolicyPart(vendor, manifest))
    return { ...(await evaluateAll(evaluator, others)), notes }
  }
  const cases: TestCase[] = []
  for (const test of tests) cases.push(...(await readCases(context, test)))
  return { ...(await runCases(evaluator, cases)), notes }
}

/** Returns the profile of the naming scheme, which follows from the API group of the policies. */
function vendorOfPolicies(manifests: readonly Manifest[]) {
  const vendors = profileNames.map(vendorOf).filter((vendor) => manifests.some((each) => isPolicyPart(vendor, each)))
  const [vendor] = vendors
  if (vendor === undefined) throw new UsageError('the files contain no ValidatingAdmissionPolicy')
  if (vendors.length > 1)
    throw new UsageError(
      `the policies use several groups: ${vendors.map((each) => groupName(each, 'admissionregistration')).join(', ')}`,
    )
  return vendor
}

/** Rejects a policy without a binding. The policy would never take effect, so every test of it would pass. */
function requireBindings(objects: readonly OfflineObject[]): void {
  const specs = (kind: string) => objects.filter(({ type }) => type.kind.kind === kind).map(({ object }) => object)
  const policies = specs('ValidatingAdmissionPolicy')
  if (policies.length === 0) throw new UsageError('the files contain no ValidatingAdmissionPolicy')
  const bindings = specs('ValidatingAdmissionPolicyBinding') as { readonly spec?: { readonly policyName?: string } }[]
  const bound = new Set(bindings.map(({ spec }) => spec?.policyName))
  const unbound = policies.find(({ metadata }) => !bound.has(metadata.name))
  if (unbound !== undefined)
    throw new UsageError(`the files contain no binding for the ValidatingAdmissionPolicy ${unbound.metadata.name}`)
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

/** Describes how the result differs from the expected result. Returns undefined if the results are equal. */
function mismatchOf(result: EvaluationResult, expected: ExpectedResult): string | undefined {
  const { denial, warnings } = result
  if ((denial === undefined ? 'allow' : 'deny') !== expected.result)
    return `expected ${expected.result}, but the request is ${described(result)}`
  if (denial !== undefined && !denial.includes(expected.message))
    return `expected a message with ${JSON.stringify(expected.message)}, but the request is ${described(result)}`
  if (expected.warnings === undefined) return undefined
  const areExpected =
    warnings.length === expected.warnings.length && expected.warnings.every((text, i) => warnings[i]!.includes(text))
  return areExpected ? undefined : `expected the warnings ${quoted(expected.warnings)}, but got ${quoted(warnings)}`
}

function described({ denial }: EvaluationResult): string {
  return denial === undefined ? 'allowed' : `denied: ${denial}`
}

function quoted(texts: readonly string[]): string {
  return JSON.stringify(texts)
}

function warningLines({ warnings }: EvaluationResult): string[] {
  return warnings.map((text) => `  warning: ${text}`)
}
