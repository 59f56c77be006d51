/* The sum of x[i] y[i]. Each work-item walks the vectors with a stride of all items. The group adds its
 * items' sums in local memory, half as many in each step. The host adds the groups' sums. */
#define GROUP 256
#define GROUPS 32

__kernel void dot_product(const int n, __global const float *x, __global const float *y,
                          __global float *sums) {
  __local float line[GROUP];
  const int item = get_local_id(0);
  float sum = 0;
  for (int i = get_global_id(0); i < n; i += GROUP * GROUPS)
    sum += x[i] * y[i];
  line[item] = sum;
  for (int half_items = GROUP / 2; half_items > 0; half_items /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_items)
      line[item] += line[item + half_items];
  }
  if (item == 0)
    sums[get_group_id(0)] = line[0];
}
