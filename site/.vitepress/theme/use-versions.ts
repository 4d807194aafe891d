/**
 * The list of versions in a page: asked for once, when the first component wants it. A build that is not one of several versions has none.
 */
import { useData } from 'vitepress';
import { type ComputedRef, computed, onMounted, type ShallowRef, shallowRef } from 'vue';
import { type OwnVersion, pageOf, type VersionList } from './versions.ts';

const list: ShallowRef<VersionList | undefined> = shallowRef();
let asked = false;

async function ask(root: string): Promise<void> {
  if (asked) return;
  asked = true;
  try {
    const response = await fetch(`${root}versions.json`);
    if (response.ok) list.value = await response.json();
  } catch {
    // Without the list, a page is as it was built: it names its own version and no other.
  }
}

export function useVersions(): {
  readonly own: OwnVersion | undefined;
  readonly list: ShallowRef<VersionList | undefined>;
  readonly page: ComputedRef<string>;
} {
  const { theme, page } = useData();
  const own = theme.value.version as OwnVersion | undefined;
  onMounted(() => {
    if (own !== undefined) void ask(own.root);
  });
  return { own, list, page: computed(() => pageOf(page.value.relativePath)) };
}
