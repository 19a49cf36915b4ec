/**
 * Flags of the served API: vendor profile, emulated version, API versions, feature gates, and IP and port ranges of
 * Services.
 */

import { type ProfileName, profileNames } from '../../api/model/vendor.ts'
import { newestVersion, oldestVersion } from '../../api/versions/emulated-version.ts'
import { flag, ifGiven, readBoolean, text, toggle, UsageError } from '../../base/flags/flags.ts'
import { readEmulatedVersion } from './emulated-version.ts'
import { featureGateHelp } from './feature-gates.ts'
import { readPairs } from './pairs.ts'
import { readClusterRanges, readPortRange } from './service-pools.ts'

export const apiFlags = {
  profile: flag({
    name: 'profile',
    value: 'NAME',
    default: 'orch',
    read: readProfile,
    help: `naming profile of the API groups: ${profileNames.join(' or ')}; kubectl and client-go require kubernetes; the profile of an existing store cannot be changed`,
  }),
  emulatedVersion: ifGiven(
    flag({
      name: 'emulated-version',
      value: 'VERSION',
      read: readEmulatedVersion,
      help: `Kubernetes version whose API the server emulates, from ${oldestVersion} to ${newestVersion}, such as 1.29 or kube=1.29; defaults to the version recorded in the store; for a new store, the default is ${newestVersion} with --profile=kubernetes and ${oldestVersion} with --profile=orch`,
    }),
  ),
  allowVersionDowngrade: toggle({
    name: 'allow-version-downgrade',
    help: 'allow an --emulated-version that is lower than the version recorded in the store; the server then hides newer fields, and drops these fields when it writes an object',
  }),
  runtimeConfig: flag({
    name: 'runtime-config',
    value: 'PAIRS',
    read: readPairs,
    help: 'API versions and types to enable or disable, as GROUP/VERSION=false or GROUP/VERSION/TYPE=false, separated by commas; api/all selects all versions, and api/ga, api/beta and api/alpha select all versions of one stage',
  }),
  featureGates: flag({
    name: 'feature-gates',
    value: 'PAIRS',
    read: readPairs,
    help: `Kubernetes feature gates to enable or disable, as NAME=true or NAME=false, separated by commas; the following gates of the emulated version affect this server: ${featureGateHelp}`,
  }),
  extensions: flag({
    name: 'extensions',
    default: 'true',
    read: readBoolean,
    help: 'support the list query parameters fields, sort and count, which Kubernetes does not have',
  }),
  serviceClusterIpRange: flag({
    name: 'service-cluster-ip-range',
    value: 'RANGES',
    default: '10.0.0.0/24',
    read: readClusterRanges,
    help: 'CIDR range for the cluster IPs of Services; for dual stack, two ranges separated by a comma, the primary IP family first',
  }),
  serviceNodePortRange: flag({
    name: 'service-node-port-range',
    value: 'RANGE',
    default: '30000-32767',
    read: readPortRange,
    help: 'port range for the node ports of Services',
  }),
  metricsFile: flag({
    name: 'metrics-file',
    value: 'FILE',
    read: text,
    help: 'YAML or JSON file with custom and external metrics for HorizontalPodAutoscalers; the server then serves custom.metrics and external.metrics, and reloads the file when it changes',
  }),
  metricsUrl: flag({
    name: 'metrics-url',
    value: 'URL',
    read: readMetricsUrl,
    help: 'https URL from which the server reads custom and external metrics every 15 seconds, in the JSON format of --metrics-file; cannot be combined with --metrics-file',
  }),
  metricsCaFile: flag({
    name: 'metrics-ca-file',
    value: 'FILE',
    read: text,
    help: 'PEM bundle of CAs for verifying the certificate of --metrics-url; defaults to the public CAs known to Node.js; requires --metrics-url',
  }),
}

function readMetricsUrl(value: string): string {
  const isHttps = URL.canParse(value) && new URL(value).protocol === 'https:'
  if (value !== '' && !isHttps)
    throw new UsageError(`${JSON.stringify(value)} is not an https URL: use a URL such as https://metrics.example.com`)
  return value
}

function readProfile(value: string): ProfileName {
  const profileName = profileNames.find((candidate) => candidate === value)
  if (profileName === undefined)
    throw new UsageError(`unknown profile ${JSON.stringify(value)}; known profiles are ${profileNames.join(', ')}`)
  return profileName
}
