/**
 * Reads documents of the kind PolicyTest, which list requests and their expected results:
 *
 *     apiVersion: config.orch.io/v1
 *     kind: PolicyTest
 *     cases:
 *       - name: too many replicas
 *         file: deployment.yaml
 *         expect: deny
 *         message: at most 5 replicas
 */
import { dirname, join } from 'node:path'
import type { Json } from '../../../../api/json/json.ts'
import { child, type FieldPath, invalid, required } from '../../../../api/model/field-error.ts'
import { asJson } from '../../../../api/model/object.ts'
import { vendorOf } from '../../../../api/model/vendor.ts'
import { ConfigurationFault, readConfiguration } from '../../../../api/schema/read-configuration.ts'
import { field, type InferFields, s } from '../../../../api/schema/schema.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import { type Manifest, manifestOf, placeName, readManifests } from '../../manifests/manifest.ts'
import type { Context } from '../../program/command.ts'

const userFields = {
  username: field(1, s.string(), { doc: 'Name of the user.' }),
  uid: field(2, s.string(), { doc: 'ID of the user.' }),
  groups: field(3, s.list(s.string()), { doc: 'Groups of the user.' }),
  extra: field(4, s.map(s.list(s.string())), { doc: 'Further attributes of the user.' }),
}

const checkFields = {
  verb: field(1, s.string(), { doc: 'Verb. Unset for any.' }),
  group: field(2, s.string(), { zeroValue: 'keep', doc: 'API group. Unset for any.' }),
  resource: field(3, s.string(), { doc: 'Resource. Unset for any.' }),
  subresource: field(4, s.string(), { zeroValue: 'keep', doc: 'Subresource. Unset for any.' }),
  namespace: field(5, s.string(), { zeroValue: 'keep', doc: 'Namespace. Unset for any.' }),
  name: field(6, s.string(), { zeroValue: 'keep', doc: 'Name of the object. Unset for any.' }),
  path: field(7, s.string(), { doc: 'Path of a check without a resource.' }),
}

const caseFields = {
  name: field(1, s.string(), { doc: 'Name of the case in the output.' }),
  operation: field(2, s.oneOf('CREATE', 'UPDATE', 'DELETE'), { doc: 'Operation. Defaults to CREATE.' }),
  object: field(3, s.any(), { doc: 'The new object.' }),
  file: field(4, s.string(), { doc: 'File with the new object, relative to the test file.' }),
  oldObject: field(5, s.any(), { doc: 'The existing object.' }),
  oldFile: field(6, s.string(), { doc: 'File with the existing object, relative to the test file.' }),
  user: field(7, s.object(userFields), { doc: 'User who sends the request.' }),
  namespaceLabels: field(8, s.map(s.string()), { doc: 'Labels of the namespace.' }),
  allowedChecks: field(9, s.list(s.object(checkFields)), { doc: 'Authorizer checks that succeed. All others fail.' }),
  expect: field(10, s.oneOf('allow', 'deny'), { required: true, doc: 'Expected result.' }),
  message: field(11, s.string(), { doc: 'Text that the message of the rejection contains.' }),
  result: field(13, s.any(), { doc: 'Fields of the object after mutation. A field that is null must be missing.' }),
  warnings: field(12, s.list(s.string()), { doc: 'One text per expected warning, which contains it. Unset for any.' }),
}

const testFields = {
  metadata: field(1, s.any(), { doc: 'Metadata, which is ignored.' }),
  cases: field(2, s.list(s.object(caseFields, { check: checkCase })), { required: true, doc: 'Requests to evaluate.' }),
}

type CaseFields = InferFields<typeof caseFields>
export type AllowedCheck = InferFields<typeof checkFields>
export type CaseUser = InferFields<typeof userFields>

const group = 'config'
const kind = 'PolicyTest'
const vendor = vendorOf('orch')

function checkCase(test: CaseFields, path: FieldPath) {
  const { operation = 'CREATE', object, file, oldObject, oldFile, expect, message, result } = test
  const wantsNew = operation !== 'DELETE'
  const wantsOld = operation !== 'CREATE'
  const sides = [
    { name: 'object', value: object, file, fileName: 'file', isWanted: wantsNew },
    { name: 'oldObject', value: oldObject, file: oldFile, fileName: 'oldFile', isWanted: wantsOld },
  ]
  return [
    ...sides.flatMap(({ name, value, file, fileName, isWanted }) => {
      const count = Number(value !== undefined) + Number(file !== undefined)
      if (isWanted && count === 0) return [required(child(path, name), `${operation} needs ${name} or ${fileName}`)]
      if (count > (isWanted ? 1 : 0))
        return [invalid(child(path, name), '', isWanted ? `set ${name} or ${fileName}` : `${operation} has none`)]
      return []
    }),
    ...(message !== undefined && expect === 'allow'
      ? [invalid(child(path, 'message'), message, 'an allowed request has no message')]
      : []),
    ...(result !== undefined && (expect === 'deny' || !wantsNew)
      ? [invalid(child(path, 'result'), '', 'only an allowed CREATE or UPDATE has a result')]
      : []),
  ]
}

/** A request for which the policies are evaluated: operation, objects, user and context. */
export interface PolicyCase {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly object: Manifest | undefined
  readonly oldObject: Manifest | undefined
  readonly user: CaseUser
  readonly namespaceLabels: { readonly [key: string]: string }
  readonly allowedChecks: readonly AllowedCheck[]
}

export interface ExpectedResult {
  readonly result: 'allow' | 'deny'
  readonly message: string
  /** The expected warnings. If undefined, any warnings are accepted. */
  readonly warnings: readonly string[] | undefined
  /** Fields of the object after mutation. If undefined, any mutation is accepted. */
  readonly object: Json | undefined
}

export interface TestCase {
  readonly title: string
  readonly request: PolicyCase
  readonly expected: ExpectedResult
}

export function isTestFile({ object }: Manifest): boolean {
  return object.kind === kind && object.apiVersion.startsWith(`${group}.${vendor.groupDomain}/`)
}

/** Parses the test cases in a PolicyTest document, and reads the files to which they refer. */
export async function readCases(context: Context, manifest: Manifest): Promise<TestCase[]> {
  const cases: TestCase[] = []
  for (const [i, test] of readTest(manifest).entries()) {
    const { name = `case ${i + 1}`, operation = 'CREATE', user = {}, namespaceLabels = {}, allowedChecks = [] } = test
    const object = await objectOf(context, manifest, { value: test.object, file: test.file })
    const oldObject = await objectOf(context, manifest, { value: test.oldObject, file: test.oldFile })
    cases.push({
      title: name,
      request: { operation, object, oldObject, user, namespaceLabels, allowedChecks },
      expected: {
        result: test.expect ?? 'allow',
        message: test.message ?? '',
        warnings: test.warnings,
        object: test.result,
      },
    })
  }
  return cases
}

function readTest({ object, origin }: Manifest): readonly CaseFields[] {
  try {
    const form = { vendor, group, versions: ['v1'], kind, fields: testFields }
    return readConfiguration(asJson(object), form).cases ?? []
  } catch (error) {
    if (error instanceof ConfigurationFault) throw new UsageError(`${placeName(origin)}: ${error.message}`)
    throw error
  }
}

async function objectOf(
  context: Context,
  { origin }: Manifest,
  { value, file }: { readonly value: Json | undefined; readonly file: string | undefined },
): Promise<Manifest | undefined> {
  if (value !== undefined) return manifestOf(value, origin)
  if (file === undefined) return undefined
  const [manifest, ...more] = await readManifests(context, {
    filename: [join(dirname(origin.name), file)],
    recursive: false,
  })
  if (manifest === undefined || more.length > 0)
    throw new UsageError(`${placeName(origin)}: ${file} must contain one object`)
  return manifest
}
