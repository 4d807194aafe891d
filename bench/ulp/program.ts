/**
 * The C program around printed bodies of the GPU table in f64: the operations they call, samples, and 113-bit references.
 *
 * The hardware's approximations are modelled by true values with pseudo-random errors of the size that the PTX ISA allows.
 */
export const PROGRAM = `#include <math.h>
#include <quadmath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdbool.h>
#include <stdint.h>
typedef long long ll; typedef unsigned long long ull;
static inline ll bits_d(double x){ll r;memcpy(&r,&x,8);return r;}
static inline double dbl_l(ll x){double r;memcpy(&r,&x,8);return r;}
static inline int bits_f(float x){int r;memcpy(&r,&x,4);return r;}
static inline ll id_l(ll x){return x;}
#define as_i64(x) _Generic((x), double: bits_d, ll: id_l, ull: id_l)(x)
#define as_u64(x) (ull)as_i64(x)
#define as_f64(x) dbl_l((ll)(x))
#define mulhi64(a,b) ((ull)(((unsigned __int128)(a)*(b))>>64))
#define clz64(x) __builtin_clzll(x)
static inline unsigned h(double x){ull b=bits_d(x)*0x9E3779B97F4A7C15ull;return b>>33;}
static inline double approx_rcp64(double x){ if(fabs(x)<0x1p-1022)return 1/copysign(0,x); double r=1/x; ll b=bits_d(r*(1+((h(x)%3)-1.0)*0x1p-20)); b&=~0xffffffffll; return fabs(r)<0x1p-1022?copysign(0,r):dbl_l(b);}
static inline double approx_rsqrt64(double x){ if(fabs(x)<0x1p-1022)return 1/copysign(0,x); double r=1/sqrt(x); if(r!=r)return r; ll b=bits_d(r*(1+((h(x)%3)-1.0)*0x1p-20)); b&=~0xffffffffll; return dbl_l(b);}
static inline float approx_exp2(float x){return exp2f(x)*(1+((h(x)%3)-1.0)*0x1p-22);}
static inline float approx_log2(float x){return log2f(x)+((h(x)%3)-1.0)*0x1p-22;}
typedef __float128 Q;
#define R1(f) static Q r_##f(Q x){return f##q(x);}
R1(exp)R1(expm1)R1(log)R1(log2)R1(log10)R1(log1p)R1(sin)R1(cos)R1(tan)R1(asin)R1(acos)R1(atan)R1(sinh)R1(cosh)R1(tanh)R1(asinh)R1(acosh)R1(atanh)R1(cbrt)R1(erf)R1(erfc)
static Q r_exp2(Q x){return exp2q(x);}
static Q r_rsqrt(Q x){return 1/sqrtq(x);}
static Q r_tgamma(Q x){return x==0?1/x:(isinfq(x)&&x<0)||(x<0&&floorq(x)==x)?nanq(""):tgammaq(x);}
static Q r_lgamma(Q x){return lgammaq(x);}
static Q r_atan2(Q x,Q y){return atan2q(x,y);}
static Q r_hypot(Q x,Q y){return hypotq(x,y);}
static Q r_pow(Q x,Q y){if(y!=y)return nanq("");if(isinfq(y)&&fabsq(x)==1)return nanq("");return powq(x,y);}
static double ulps(double got,Q want){
 if(got!=got||want!=want) return (got!=got)==(want!=want)?0:1e30;
 double w=want; if(got==w){ if(got==0&&signbit(got)!=signbit(w))return 1e29;}
 Q a=fabsq(want); if(a>=0x1p1023Q*2) return w==got?0:1e28;
 Q g=got; if(isinf(got)) g=copysignq(0x1p1023Q*2,got);
 if(g==want)return 0;
 int e; frexpq(a,&e); e-=1; if(e<-1022||a==0)e=-1022; return fabsq(g-want)*ldexpq(1,52-e);}
static ull st=88172645463325252ull; static ull rnd(){st^=st<<13;st^=st>>7;st^=st<<17;return st*0x2545F4914F6CDD1Dull;}
static void seed(long s){st=st*(2*s+1)+s;for(int i=0;i<20;i++)rnd();}
static double u01(){return (rnd()>>11)*0x1p-53;}
static const double sp[]={0,0x1p-1074,0x1p-1060,0x1p-1022-0x1p-1074,0x1p-1022,1e-200,1e-20,0x1p-53,0x1p-27,.25,1/3.,.5,1-0x1p-53,1,1+0x1p-52,1.5,2,2.5,3,4,5,6,7,10,20,22,23.5,27,100,128,170,171.6,171.625,172,708.5,709.78,709.79,710.4,745,746,1000,1023.5,1024,1e5+.3,0x1p30,0x1p30+1,0x1p31,0x1p52-.5,0x1p53-1,0x1p53,0x1p64,1e20,1e22,1e100,1e200,1e300,2.5e305,3e305,0x1p1023,0x1.fffffffffffffp1023,INFINITY,NAN};
#define NS ((int)(sizeof sp/8))
static double arg(const char*f,long i){
 if(i<2*NS){double x=sp[i/2];return i&1?-x:x;}
 switch(i&7){
 case 0: return dbl_l((ll)rnd());
 case 1: return (u01()-.5)*3;
 case 2: return (u01()-.5)*40;
 case 3: return (u01()-.5)*1500;
 case 4: return 1+(u01()-.5)*exp2(-(double)(rnd()%50));
 case 5: {double v=exp2((u01()-.5)*60);return rnd()&1?-v:v;}
 case 6: {long k=rnd()%2000;double b=k*0.78539816339744831*(1+ (double)(ll)(rnd()%9-4)*0x1p-53);return rnd()&1?b:-b;} 
 default:{ double c=(double)((ll)(rnd()%64)-32)*.25; return c+(u01()-.5)*exp2(-(double)(rnd()%50));}
 }}
#define RUN1(F) {double worst=0,wx=0,wg=0;for(long i=0;i<n;i++){double x=arg(#F,i);double g=k_##F(x);Q w=r_##F((Q)x);double d=ulps(g,w); \\
 if(#F[0]=='l'&&#F[1]=='g'&&x<0&&fabsq(w)<1)d=fabsq(g-w)*0x1p52; if(d>worst){worst=d;wx=x;wg=g;}} printf("%-7s %8.3f at %.17g (%a) got %.17g want %.17g\\n",#F,worst,wx,wx,wg,(double)r_##F((Q)wx));fflush(stdout);}
#define RUN2(F) {double worst=0,wx=0,wy=0,wg=0; for(long i=0;i<n;i++){double x=dbl_l((ll)rnd()),y=dbl_l((ll)rnd());double sh=u01()-.5; \\
 if(i<4l*NS*NS){int a=i%(2*NS),b=i/(2*NS);x=sp[a/2];if(a&1)x=-x;y=sp[b/2];if(b&1)y=-y;} else if(#F[0]=='p'){if(i%4==0)x=1+sh/16;if(i%8==1)x=1+sh;if(i%4<2)y=(u01()-.5)*(2200/log2(fabs(x)));if(i%4==2){y=round(sh*32);} if(i%8==5){x=fabs(sh*20);y=(u01()-.5)*20;}}else if(i%4)y=x*exp2(sh*(i%4==1?120:4)); \\
 double g=k_##F(x,y);Q w=r_##F((Q)x,(Q)y);double d=ulps(g,w);if(d>worst){worst=d;wx=x;wy=y;wg=g;}} printf("%-7s %8.3f at %.17g,%.17g got %.17g want %.17g\\n",#F,worst,wx,wy,wg,(double)r_##F((Q)wx,(Q)wy));fflush(stdout);}
`;
