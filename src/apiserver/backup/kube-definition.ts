/**
 * Converts a CustomResourceDefinition to v1 from v1beta1, the version that kube-apiserver 1.23 stores. In v1beta1,
 * settings that all versions share are outside the version list. In v1, every version has its own settings.
 */
import { isObject, type Json, type JsonObject } from '../../api/json/json.ts'

/** Returns the definition in v1, without fields that v1 does not have. v1 validation reports missing fields. */
export function definitionInV1(document: JsonObject, apiVersion: string): JsonObject {
  const spec = objectOf(document.spec)
  const { version, validation, subresources, additionalPrinterColumns, conversion, preserveUnknownFields, ...rest } =
    spec
  const common = { schema: validation, subresources, additionalPrinterColumns }
  const listed = Array.isArray(spec.versions) ? spec.versions : []
  const versions = listed.length > 0 ? listed : [{ name: version ?? '', served: true, storage: true }]
  return {
    ...document,
    apiVersion,
    spec: {
      ...rest,
      versions: versions.map((each) => versionInV1(objectOf(each), common)),
      ...(conversion === undefined ? {} : { conversion: conversionInV1(objectOf(conversion)) }),
      // v1beta1 defaults `preserveUnknownFields` to true, v1 to false.
      ...(preserveUnknownFields === false ? {} : { preserveUnknownFields: true }),
    },
  }
}

interface CommonParts {
  readonly schema: Json | undefined
  readonly subresources: Json | undefined
  readonly additionalPrinterColumns: Json | undefined
}

function versionInV1(version: JsonObject, common: CommonParts): JsonObject {
  const schema = version.schema ?? common.schema
  const subresources = version.subresources ?? common.subresources
  const columns = version.additionalPrinterColumns ?? common.additionalPrinterColumns
  return {
    ...version,
    ...(schema === undefined ? {} : { schema }),
    ...(subresources === undefined ? {} : { subresources }),
    ...(Array.isArray(columns) ? { additionalPrinterColumns: columns.map((each) => columnInV1(objectOf(each))) } : {}),
  }
}

function columnInV1({ JSONPath, ...column }: JsonObject): JsonObject {
  return JSONPath === undefined ? column : { ...column, jsonPath: JSONPath }
}

function conversionInV1({ webhookClientConfig, conversionReviewVersions, ...conversion }: JsonObject): JsonObject {
  if (webhookClientConfig === undefined) return conversion
  return {
    ...conversion,
    webhook: {
      clientConfig: webhookClientConfig,
      ...(conversionReviewVersions === undefined ? {} : { conversionReviewVersions }),
    },
  }
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}
