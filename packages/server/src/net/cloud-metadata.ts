// Addresses where a cloud serves credentials, configuration or certificates to its machines. Requests to them are always refused, also when
// an allow-list names them. All link-local addresses count: most clouds use 169.254.169.254, several use others (169.254.42.42, 169.254.0.23).
import ipaddr from 'ipaddr.js';

/** Addresses that are not link-local, with the provider's page about them. */
const providerAddresses = [
  // Azure, WireServer: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16. A public address.
  '168.63.129.16',
  // Equinix Metal, metadata.platformequinix.com: https://deploy.equinix.com/developers/docs/metal/server-metadata/metadata/. A public address.
  '192.80.8.124',
  // Alibaba Cloud: https://www.alibabacloud.com/help/ecs/user-guide/view-instance-metadata
  '100.100.100.200',
  // Oracle Cloud Infrastructure Classic: https://docs.oracle.com/en/cloud/iaas/compute-iaas-cloud/stcsg/retrieving-instance-metadata.html
  '192.0.0.192',
  // AWS, EC2: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
  'fd00:ec2::254',
  // AWS, EKS Pod Identity (169.254.170.23 too): https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html
  'fd00:ec2::23',
  // Google Cloud: https://cloud.google.com/compute/docs/metadata/querying-metadata
  'fd20:ce::254',
  // Oracle Cloud Infrastructure: https://docs.oracle.com/iaas/Content/Compute/Tasks/gettingmetadata.htm
  'fd00:c1::a9fe:a9fe',
  // Scaleway (169.254.42.42 too): https://www.scaleway.com/en/docs/instances/reference-content/understanding-instance-metadata/
  'fd00:42::42',
  // Akamai (Linode): https://techdocs.akamai.com/cloud-computing/docs/overview-of-the-metadata-service
  'fd00:a9fe:a9fe::1',
].map((text) => ipaddr.parse(text).toNormalizedString());

/** Prefixes of IPv6 addresses that contain an IPv4 address, and the index of its first byte. */
const wrappers = (
  [
    ['::ffff:0:0/96', 12],
    ['::ffff:0:0:0/96', 12],
    ['64:ff9b::/96', 12],
    ['64:ff9b:1::/48', 12],
    ['2002::/16', 2],
  ] as const
).map(([prefix, at]) => ({ prefix: ipaddr.IPv6.parseCIDR(prefix), at }));

const unwrapped = (address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 => {
  if (address instanceof ipaddr.IPv4) return address;
  const wrapper = wrappers.find(({ prefix }) => address.match(prefix));
  return wrapper ? new ipaddr.IPv4(address.toByteArray().slice(wrapper.at, wrapper.at + 4)) : address;
};

/** Takes an address, with or without brackets, also IPv4 in IPv6. False for a name. */
export const isMetadataAddress = (text: string): boolean => {
  const literal = text.startsWith('[') ? text.slice(1, -1) : text;
  if (!ipaddr.isValid(literal)) return false;
  const address = unwrapped(ipaddr.parse(literal));
  return address.range() === 'linkLocal' || providerAddresses.includes(address.toNormalizedString());
};
