import '@shikijs/vitepress-twoslash/style.css';
import TwoslashFloatingVue from '@shikijs/vitepress-twoslash/client';
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import Playground from './Playground.vue';
import StartProgram from './StartProgram.vue';
import VersionBanner from './VersionBanner.vue';
import VersionPicker from './VersionPicker.vue';
import './style.css';

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, undefined, {
      'home-features-before': () => h(StartProgram),
      // One of these for each layout of a page.
      'home-hero-before': () => h(VersionBanner),
      'doc-before': () => h(VersionBanner),
      'page-top': () => h(VersionBanner),
    }),
  enhanceApp({ app }) {
    app.use(TwoslashFloatingVue);
    app.component('Playground', Playground);
    app.component('VersionPicker', VersionPicker);
  },
};
export default theme;
